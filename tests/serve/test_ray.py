"""Ray Serve, as far as it can be checked without a cluster."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from focore.cli import main
from focore.errors import CheckpointError, OptionError
from focore.serve.limits import Limits
from focore.serve.ray import Replica, Scale, deployment, replica_app
from focore.serve.settings import ServeSettings


def test_how_many_replicas() -> None:
    assert Scale.read(None, None) == Scale(1, 1)
    assert Scale.read(3, None) == Scale(3, 3)
    assert Scale.read(None, "2:8") == Scale(2, 8)
    assert Scale(3, 3).options(32) == {"num_replicas": 3}
    config = Scale(2, 8).options(32)["autoscaling_config"]
    assert config == {"min_replicas": 2, "max_replicas": 8, "target_ongoing_requests": 16}


@pytest.mark.parametrize("said", ["", "2", "2:", ":2", "0:2", "3:2", "a:b", "-1:2", "1:2:3"])
def test_a_bad_range_is_refused(said: str) -> None:
    with pytest.raises(OptionError, match="it must be MIN:MAX"):
        Scale.read(None, said)


def test_a_number_and_a_range_exclude_each_other() -> None:
    with pytest.raises(OptionError, match="cannot both be said"):
        Scale.read(2, "1:2")
    with pytest.raises(OptionError, match="must be at least 1"):
        Scale.read(0, None)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (["--ray", "--replicas", "0"], "--replicas 0 is not allowed"),
        (["--ray", "--autoscale", "5"], "--autoscale '5' is not allowed"),
        (["--ray", "--port", "0"], "--ray needs a port"),
        (["--replicas", "2"], "--ray"),
    ],
)
def test_mistakes_on_the_command_line(
    said: list[str], answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", *said])
    assert ended.value.code == 2
    assert answer in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_the_engine_and_not_ray_says_when_it_is_full() -> None:
    pytest.importorskip("ray.serve")
    settings = ServeSettings(limits=Limits(rows=3, waiting=500, grace_seconds=7))
    made = deployment(settings, Scale(2, 2), {"num_cpus": 1})
    assert made.num_replicas == 2
    assert made.max_ongoing_requests > 503
    assert made.ray_actor_options["num_cpus"] == 1


def test_a_replica_starts_once_its_model_is_loaded(settings: ServeSettings) -> None:
    async def started() -> tuple[bool, bool]:
        app = replica_app(settings)
        before = app.state.service.ready
        async with app.router.lifespan_context(app):
            return before, app.state.service.ready

    assert asyncio.run(started()) == (False, True)


def test_a_replica_whose_model_does_not_load_does_not_start(settings: ServeSettings) -> None:
    async def started() -> None:
        app = replica_app(replace(settings, model="no/such-model-anywhere"))
        async with app.router.lifespan_context(app):
            pass

    with pytest.raises((CheckpointError, OptionError)):
        asyncio.run(started())


def test_a_replica_without_its_engine_is_not_well(settings: ServeSettings) -> None:
    async def probed() -> None:
        app: Any = replica_app(settings)
        replica = SimpleNamespace(app=app)
        async with app.router.lifespan_context(app):
            Replica.check_health(replica)  # type: ignore[arg-type]
            app.state.service.engine.stop()
            with pytest.raises(RuntimeError, match="engine has died"):
                Replica.check_health(replica)  # type: ignore[arg-type]

    asyncio.run(probed())
