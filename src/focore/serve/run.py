"""The server as a process: started, told to stop, stopped."""

from __future__ import annotations

import socket
import threading
from types import FrameType

import uvicorn
from fastapi import FastAPI

from ..errors import OptionError
from .app import create_app
from .logs import logging_to_stderr, tell
from .service import Service
from .settings import ServeSettings

KEEP_ALIVE = 30  # seconds for which a silent connection is kept


class Server(uvicorn.Server):
    """On the first signal running requests may finish; on the second nothing is waited for."""

    def __init__(self, config: uvicorn.Config, service: Service):
        super().__init__(config)
        self._service, self._draining = service, False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._draining:
            self.should_exit = self.force_exit = True
            return
        self._draining = True
        threading.Thread(target=self._drain, name="focore-drain", daemon=True).start()

    def _drain(self) -> None:
        grace = self._service.settings.limits.grace_seconds
        tell("stopping", grace_seconds=grace)
        self._service.engine.drain(grace)
        self.should_exit = True


def run(settings: ServeSettings, host: str, port: int) -> None:
    """Serve until told to stop; a model that does not load ends it with its error."""
    failure: list[Exception] = []

    def fail(error: Exception) -> None:
        failure.append(error)
        server.should_exit = True

    app = create_app(settings, fail)
    server = Server(_config(app), app.state.service)
    with logging_to_stderr(), _listen(host, port) as listener:
        where = listener.getsockname()
        tell("listening", host=where[0], port=where[1])
        server.run(sockets=[listener])
    if failure:
        raise failure[0]


def _config(app: FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=5,
    )


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise OptionError(f"cannot listen at {host}:{port}: {error}") from None
    return listener
