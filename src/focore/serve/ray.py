"""The same application on a Ray cluster: replicas behind the router of Ray Serve.

Each replica builds the application and loads the model for itself. Ray Serve sends a request to the
replica with fewer requests of two drawn at random, starts another replica in place of one that
dies, and passes streams on as they come.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import OptionError
from ..joining import join, named
from .logs import log_to_stderr, tell
from .settings import ServeSettings

if TYPE_CHECKING:
    from fastapi import FastAPI

NAME = "focore"
SPARE = 64  # requests of a replica that are no rows: health, metrics, the page
PROBE_SECONDS, PROBE_PATIENCE = 2.0, 30.0  # a loaded machine may be slow to answer
TRIES = 2  # of a replica to start; a model that does not load will not load later


@dataclass(frozen=True)
class Scale:
    """How many replicas: a fixed number, or as many as are needed between two."""

    least: int = 1
    most: int = 1

    @classmethod
    def read(cls, replicas: int | None, autoscale: str | None) -> Scale:
        """What `--replicas N` or `--autoscale MIN:MAX` says."""
        if autoscale is None:
            count = 1 if replicas is None else replicas
            if count < 1:
                raise OptionError(f"--replicas {count} is not allowed; it must be at least 1")
            return cls(count, count)
        if replicas is not None:
            raise OptionError("--replicas and --autoscale cannot both be said")
        least, colon, most = autoscale.partition(":")
        if not (colon and least.isdecimal() and most.isdecimal() and 1 <= int(least) <= int(most)):
            raise OptionError(
                f"--autoscale {autoscale!r} is not allowed; it must be MIN:MAX with 1 <= MIN <= MAX"
            )
        return cls(int(least), int(most))

    def options(self, rows: int) -> dict[str, Any]:
        """For Ray Serve; a replica counts as busy when half of its rows are taken."""
        if self.least == self.most:
            return {"num_replicas": self.least}
        return {
            "autoscaling_config": {
                "min_replicas": self.least,
                "max_replicas": self.most,
                "target_ongoing_requests": max(1, rows // 2),
            }
        }


def replica_app(settings: ServeSettings) -> FastAPI:
    """The application of a replica: it has started only once the model is there."""
    from .app import create_app

    failure: list[Exception] = []
    app = create_app(settings, failure.append)
    begun = app.router.lifespan_context

    @asynccontextmanager
    async def loaded(app: FastAPI) -> AsyncIterator[None]:
        async with begun(app):
            while not failure and not app.state.service.ready:
                await asyncio.sleep(0.05)
            if failure:
                raise failure[0]
            yield

    app.router.lifespan_context = loaded
    return app


class Replica:
    """What Ray Serve asks after, beside the application."""

    app: Any  # set by Ray Serve

    def check_health(self) -> None:
        """A replica whose engine has died is replaced."""
        if not self.app.state.service.engine.alive:
            raise RuntimeError("the engine has died")


def deployment(settings: ServeSettings, scale: Scale, resources: dict[str, int]) -> Any:
    """What Ray Serve runs."""
    serve: Any = import_module("ray.serve")

    def build() -> Any:
        log_to_stderr()
        return replica_app(settings)

    limits = settings.limits
    return serve.deployment(
        serve.ingress(build)(Replica),
        name=NAME,
        # More than the engine holds, so that the engine says when it is full, as without Ray.
        max_ongoing_requests=limits.rows + limits.waiting + SPARE,
        graceful_shutdown_timeout_s=limits.grace_seconds,
        health_check_period_s=PROBE_SECONDS,
        health_check_timeout_s=PROBE_PATIENCE,
        max_constructor_retry_count=TRIES,
        ray_actor_options=resources,
        **scale.options(limits.rows),
    )


def deploy(ray: Any, settings: ServeSettings, scale: Scale, host: str, port: int) -> None:
    """Put the application on the cluster, and wait until all of it is ready."""
    serve: Any = import_module("ray.serve")
    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    gpus = settings.device != "cpu" and ray.cluster_resources().get("GPU")
    made = deployment(settings, scale, {"num_gpus": 1} if gpus else {"num_cpus": 1})
    quiet = {"log_level": "ERROR", "enable_access_log": False}
    try:
        serve.start(http_options={"host": host, "port": port}, logging_config=quiet)
        serve.run(made.bind(), name=NAME, route_prefix="/", logging_config=quiet)
    except Exception as error:
        raise OptionError(f"it does not start on Ray: {_reason(serve) or error}") from None


def _reason(serve: Any) -> str | None:
    """The last line that a failing replica has said."""
    with suppress(Exception):
        found = serve.status().applications[NAME]
        said = [found.message, *(each.message for each in found.deployments.values())]
        lines = [line.strip() for text in said for line in str(text).splitlines()]
        return [line for line in lines if line][-1]
    return None


def withdraw(ray: Any, own: bool) -> None:
    """Take the application down, and with it our own cluster."""
    serve: Any = import_module("ray.serve")
    with suppress(Exception):  # of a cluster that has gone
        serve.shutdown() if own else serve.delete(NAME)
    ray.shutdown()


def run(
    settings: ServeSettings, scale: Scale, host: str, port: int, address: str | None = None
) -> None:
    """Serve until told to stop, on the cluster at `address` or on one made here."""
    if port == 0:
        raise OptionError("--ray needs a port; --port 0 is not allowed with it")
    log_to_stderr()
    ray = join("--ray", address, processes=scale.most)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # Ray has set its own
    try:
        deploy(ray, settings, scale, host, port)
        tell("ready", model=settings.served, host=host, port=port, replicas=scale.least)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
        tell("stopping")
    finally:
        withdraw(ray, own=not named(address))
