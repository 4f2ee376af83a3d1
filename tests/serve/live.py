"""A real server on loopback in a thread, and a gate that holds its model."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn

from focore.loading import Model
from focore.serve.app import create_app
from focore.serve.service import Service
from focore.serve.settings import ServeSettings

PATIENCE = 120.0  # seconds until a test gives up on something that must happen


def until(happened: Callable[[], bool]) -> None:
    """Wait for something that another thread does."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.005)


class Live:
    """A server under test."""

    def __init__(self, settings: ServeSettings):
        app = create_app(settings)
        self.service: Service = app.state.service
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False)
        self._server = uvicorn.Server(config)
        run = {"sockets": [self._listener]}
        self._thread = threading.Thread(target=self._server.run, kwargs=run, daemon=True)

    def __enter__(self) -> Live:
        self._thread.start()
        until(lambda: self.service.ready)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        self._listener.close()

    @property
    def model(self) -> Model:
        return self.service.model

    @property
    def idle(self) -> bool:
        return not self.service.engine.running and not self.service.engine.waiting

    def post(self, path: str, body: Any, **headers: Any) -> httpx.Response:
        """Send a body, as JSON unless it is bytes."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json", **headers}
        return httpx.post(self.url + path, content=content, headers=headers, timeout=PATIENCE)

    def get(self, path: str, **headers: Any) -> httpx.Response:
        return httpx.get(self.url + path, headers=headers, timeout=PATIENCE)

    def events(self, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The chunks of a stream, which must end as it should."""
        with httpx.stream("POST", self.url + path, json=body, timeout=PATIENCE) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = [line for line in answer.iter_lines() if line.startswith("data: ")]
        assert lines.pop() == "data: [DONE]"
        return [json.loads(line.removeprefix("data: ")) for line in lines]

    def count(self, name: str, **labels: str) -> float:
        """A value of the metrics."""
        return self.service.metrics.value(name, labels)

    @contextmanager
    def held(self) -> Iterator[Callable[[], None]]:
        """Hold the model before its next pass; the function given lets passes go on."""
        gate, denoiser = threading.Event(), self.model.denoiser
        predict = denoiser.predict

        def waiting(*given: Any) -> Any:
            gate.wait(PATIENCE)
            return predict(*given)

        denoiser.predict = waiting  # type: ignore[method-assign]
        try:
            yield gate.set
        finally:
            gate.set()
            del denoiser.predict
