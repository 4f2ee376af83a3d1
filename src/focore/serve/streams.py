"""An answer as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .answers import step_notes
from .errors import ApiError
from .following import Following, Gone
from .tickets import News, Want

DONE = b"data: [DONE]\n\n"
ALIVE = b": still here\n\n"
LAST_WORDS = 5.0  # seconds that a client who does not read may keep us


class EventStream(Response):
    """The events of a request; an error that comes midway is the last of them."""

    media_type = "text/event-stream"

    def __init__(self, following: Following):
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._following = following
        self._first = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._send = send
        try:
            await self._begin()
            await self._following.run(receive, self._emit)
            await self._end(self._closing() + DONE)
        except ApiError as error:
            await self._end(_event(error.body()))
        except Gone:
            pass  # nobody reads what we could say
        finally:
            self._following.leave()

    async def _begin(self) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await self._send(start)
        asked, answer = self._following.asked, self._following.answer
        for index in range(len(asked.jobs) if asked.chat else 0):
            await self._event(answer.opening(index))

    async def _emit(self, index: int, news: News | None, text: str) -> None:
        if news is None:
            await self._write(ALIVE)
            return
        answer = self._following.answer
        if text and self._first:
            self._first = False
            self._following.service.metrics.first.observe(answer.summary["seconds"])
        for chunk in self._pieces(index, news, text):
            await self._event(chunk)
        reason = answer.choices[index].growing.reason
        if reason:
            await self._event(answer.chunk(index, "", reason, **answer.summary))

    def _pieces(self, index: int, news: News, text: str) -> Iterator[dict[str, Any]]:
        """The chunks of some news: one for each step, or one if there is text."""
        answer, job = self._following.answer, self._following.asked.jobs[index]
        if job.want is Want.STEPS:
            for seen in news.steps:
                last = seen is news.steps[-1]
                notes = step_notes(job.plan.model, job.row.start, seen)
                yield answer.chunk(index, text if last else "", **notes)
        if text and not news.steps:
            yield answer.chunk(index, text)

    def _closing(self) -> bytes:
        asked, answer = self._following.asked, self._following.answer
        return _event(answer.closing()) if asked.usage else b""

    async def _event(self, value: dict[str, Any]) -> None:
        await self._write(_event(value))

    async def _write(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def _end(self, body: bytes) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                await self._send({"type": "http.response.body", "body": body, "more_body": False})


def _event(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False, allow_nan=False)}\n\n".encode()
