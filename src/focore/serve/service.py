"""A model and its engine, from loading to the last answer."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from ..loading import Model, load
from .engine import Engine
from .errors import loading, stopping
from .logs import log, tell
from .metrics import Metrics
from .requests import Asked, check_defaults, prepare
from .schema import ChatRequest, CompletionRequest
from .settings import ServeSettings
from .traces import Traces


class Service:
    """What all requests share."""

    def __init__(
        self, settings: ServeSettings, on_failure: Callable[[Exception], None] | None = None
    ):
        self.settings, self.metrics = settings, Metrics()
        self.started = int(time.time())
        self.engine = Engine(settings.limits, self.metrics)
        self.traces = Traces(settings.limits.traces, settings.limits.trace_bytes)
        self.metrics.watch("focore_traces", "traces kept", lambda: len(self.traces))
        self._model: Model | None = None
        self._on_failure = on_failure
        # One thread, in the order of arrival: the loop has other things to do.
        self._preparing = ThreadPoolExecutor(1, "focore-prepare")

    @property
    def ready(self) -> bool:
        return self._model is not None and self.engine.open

    @property
    def model(self) -> Model:
        if not self.engine.open:
            raise stopping()
        if self._model is None:
            raise loading()
        return self._model

    def start(self) -> None:
        """Load the model beside the loop, so that the server can say that it is alive."""
        threading.Thread(target=self._load, name="focore-load", daemon=True).start()

    def _load(self) -> None:
        chosen = self.settings
        try:
            tell("loading", model=chosen.served)
            model = load(
                chosen.model, dtype=chosen.dtype, device=chosen.device, revision=chosen.revision
            )
            model = replace(model, name=chosen.served)
            check_defaults(chosen, model)
        except Exception as error:
            log.error("the model does not load: %s", error)
            if self._on_failure:
                self._on_failure(error)
            return
        self.engine.start()
        self._model = model
        tell("ready", model=chosen.served)

    async def prepare(self, request: CompletionRequest | ChatRequest, client: str) -> Asked:
        """Check a request, off the loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._preparing, prepare, self.settings, self.model, request, client
        )

    def stop(self) -> None:
        """End the engine; whoever still waits is told."""
        self.engine.stop()
        self._preparing.shutdown(wait=False, cancel_futures=True)
