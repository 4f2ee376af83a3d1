"""What stands between the network and the routes: host, key, size and speed of bodies, headers."""

from __future__ import annotations

import asyncio
import hmac
import time
import uuid
from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import ApiError, failed
from .limits import Limits
from .logs import log, tell
from .metrics import Metrics

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
GUARDED = ("/v1", "/metrics")
DISCARDED = 32 << 20  # bytes of a body too large that are read, so that its sender hears why


def reply(error: ApiError) -> JSONResponse:
    return JSONResponse(error.body(), error.status, error.headers)


class Outermost:
    """Every answer has an id, safe headers, a line in the log; no failure gets out as it is."""

    def __init__(self, app: ASGIApp, metrics: Metrics):
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin, status, name = time.perf_counter(), 0, uuid.uuid4().hex

        async def labelled(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = name
                for key, value in HEADERS.items():
                    headers.setdefault(key, value)
            await send(message)

        try:
            await self.app(scope, receive, labelled)
        except Exception as error:
            log.error("a request failed", exc_info=error, extra={"fields": {"request": name}})
            if not status:
                await reply(failed())(scope, receive, labelled)
        seconds = time.perf_counter() - begin
        path = getattr(scope.get("route"), "path", "other")
        self.metrics.requests.labels(path, str(status)).inc()
        self.metrics.seconds.labels(path).observe(seconds)
        tell("request", request=name, verb=scope["method"], path=path, status=status,
             seconds=round(seconds, 4))  # fmt: skip


class Guard:
    """Only known hosts, only with the key, only bodies of a sane size that come in time."""

    def __init__(self, app: ASGIApp, limits: Limits, key: str | None, hosts: Sequence[str]):
        self.app, self.limits = app, limits
        self.hosts = {host.lower() for host in hosts}
        self.key = None if key is None else key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check_host(headers.get("host", ""))
            self._check_key(scope["path"], headers.get("authorization", ""))
            body = await self._body(scope["method"], headers, receive)
        except ApiError as error:
            await reply(error)(scope, receive, send)
            return
        await self.app(scope, _replayed(body, receive), send)

    def _check_host(self, host: str) -> None:
        """A page of another origin may resolve its own name to us; ours are known."""
        name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        if self.hosts and name.lower() not in self.hosts:
            raise ApiError(
                400, "this server is not called by that name; see --allow-host", code="unknown_host"
            )

    def _check_key(self, path: str, authorization: str) -> None:
        if self.key is None or not path.startswith(GUARDED):
            return
        scheme, _, given = authorization.partition(" ")
        right = hmac.compare_digest(given.strip().encode("latin-1"), self.key)
        if scheme.lower() != "bearer" or not right:
            raise ApiError(
                401,
                "the API key is missing or wrong; send Authorization: Bearer KEY",
                kind="authentication_error",
                code="invalid_api_key",
                headers={"WWW-Authenticate": "Bearer"},
            )

    async def _body(self, method: str, headers: Headers, receive: Receive) -> bytes:
        """All of the body, however it comes."""
        if method in ("GET", "HEAD", "OPTIONS"):
            return b""
        declared = headers.get("content-length", "0")
        if len(declared) > 18 or (declared.isdecimal() and int(declared) > DISCARDED):
            raise self._too_large()
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                return await self._read(receive)
        except TimeoutError:
            said = f"the body did not arrive within {self.limits.body_seconds:g} s"
            raise ApiError(408, said, code="slow_body", headers={"Connection": "close"}) from None

    async def _read(self, receive: Receive) -> bytes:
        parts, size, more = [], 0, True
        while more and size <= DISCARDED:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            part, more = message.get("body", b""), message.get("more_body", False)
            size += len(part)
            if size <= self.limits.body_bytes:
                parts.append(part)
        if size > self.limits.body_bytes:
            raise self._too_large()
        return b"".join(parts)

    def _too_large(self) -> ApiError:
        said = f"the body is larger than the {self.limits.body_bytes} bytes allowed"
        return ApiError(413, said, code="body_too_large", headers={"Connection": "close"})


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body again in one message, then whatever comes."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
