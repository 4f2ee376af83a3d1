"""Workers on a Ray cluster, and what happens when one dies."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import focore
from focore import Model, OptionError
from focore.evaluate.cluster import Cluster, Worker, parse_workers
from focore.evaluate.evaluation import Evaluation
from focore.evaluate.run import evaluate
from tests.evaluate.test_run import asked, untimed


def test_workers() -> None:
    assert parse_workers("ray") is None
    assert parse_workers("ray:3") == 3
    for said in ("ray:0", "ray:x", "slurm", "ray:"):
        with pytest.raises(OptionError, match="it must be ray or ray:N"):
            parse_workers(said)


class Died(Exception):
    pass


class FakeRay:
    """As much of Ray as is used, in this process; workers die when told to."""

    def __init__(self, deaths: int):
        self.deaths = deaths
        self.started = 0
        self.exceptions = SimpleNamespace(RayActorError=Died, RayTaskError=TypeError)

    def is_initialized(self) -> bool:
        return True

    def shutdown(self) -> None:
        pass

    def cluster_resources(self) -> dict[str, int]:
        return {}

    def remote(self, **resources: int) -> Any:
        def make(kind: Any) -> Any:
            def start(*arguments: Any) -> Any:
                self.started += 1
                worker = kind(*arguments)
                return SimpleNamespace(answer=SimpleNamespace(remote=lambda *a: (worker.answer, a)))

            return SimpleNamespace(remote=start)

        return make

    def wait(self, refs: list[Any], num_returns: int) -> tuple[list[Any], list[Any]]:
        return [refs[-1]], refs[:-1]

    def get(self, ref: Any) -> Any:
        if self.deaths:
            self.deaths -= 1
            raise Died
        act, arguments = ref
        return act(*arguments)


class Piece(tuple):  # type: ignore[type-arg]
    """A call that can be a key."""

    __hash__ = object.__hash__


def on(ray: FakeRay, checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setitem(sys.modules, "ray", ray)  # type: ignore[arg-type]
    monkeypatch.setattr(
        Cluster, "_ask", lambda self, worker, plan, jobs: Piece(
            worker.answer.remote(plan.method.name, plan.seed, plan.options, jobs)
        )
    )  # fmt: skip
    return Cluster(str(checkpoint), 2, piece=3)


def test_a_dead_workers_piece_is_redone(
    model: Model, checkpoint: Path, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = evaluate(asked(model, data, methods=["random"]))
    ray = FakeRay(deaths=3)
    with on(ray, checkpoint, monkeypatch) as cluster:
        together = evaluate(asked(model, data, methods=["random"], compute=cluster))
    assert untimed(together) == untimed(alone)
    assert ray.started == 2 + 3


def test_patience_ends(
    model: Model, checkpoint: Path, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = FakeRay(deaths=99)
    with (
        on(ray, checkpoint, monkeypatch) as cluster,
        pytest.raises(OptionError, match="6 Ray workers have died"),
    ):
        evaluate(asked(model, data, compute=cluster))


def test_a_worker_gives_the_same_answers(checkpoint: Path) -> None:
    from focore.evaluate.answering import Job, seeded
    from focore.evaluate.harness import Harness

    made = Harness(focore.load(str(checkpoint)), "random", 6)
    plan = made.plan(6)
    jobs = seeded(plan, [Job([3, 4], []), Job([5], [6])])
    worker = Worker(str(checkpoint), "auto", "auto", None)
    found = dict(worker.answer("random", 0, plan.options, jobs))
    here = dict(made.compute(plan, jobs))
    assert {i: a.tokens for i, a in found.items()} == {i: a.tokens for i, a in here.items()}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_two_real_workers_one_killed(
    model: Model, checkpoint: Path, data: str, tmp_path: Path
) -> None:
    alone = evaluate(asked(model, data, lengths=[32]), tmp_path / "alone")
    killed: list[int] = []
    with Cluster(str(checkpoint), 2, piece=2) as cluster:
        calls = [each.__ray_call__.remote(lambda _: os.getpid()) for each in cluster.idle]
        pids = cluster.ray.get(calls)

        def progress(cell: Any, done: int, total: int) -> None:
            if done >= 3 and not killed:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])

        what: Evaluation = asked(model, data, lengths=[32], compute=cluster, progress=progress)
        together = evaluate(what, tmp_path / "together")
        assert cluster.died == 1
    assert killed
    assert untimed(together) == untimed(alone)
    keys = [
        json.loads(line)["key"]
        for line in (tmp_path / "together" / "gsm8k.focore.32.jsonl").read_text().splitlines()[1:]
    ]
    assert sorted(keys) == sorted(set(keys))
