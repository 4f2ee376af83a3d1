"""Following the rows of a request until they are done, or nobody waits for them any more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.types import Receive

from .answers import Answer
from .errors import ApiError, timed_out
from .logs import tell
from .requests import Asked
from .service import Service
from .tickets import News
from .traces import draw

SILENCE = 15.0  # seconds after which a stream says that it is still there

Emit = Callable[[int, News | None, str], Awaitable[None]]


class Gone(Exception):
    """The client has left."""


class Following:
    """The rows of one request, as their news come in."""

    def __init__(self, service: Service, asked: Asked):
        self.service, self.asked = service, asked
        self.answer = Answer(asked, service.settings.served)
        self._bell = asyncio.Event()
        self._tickets = service.engine.submit(asked.jobs, self._bell)
        self._end = "cancelled"

    async def run(self, receive: Receive, emit: Emit) -> None:
        """Take in all news until the end; `Gone` as soon as the client is."""
        leaving = asyncio.ensure_future(_left(receive))
        finding = asyncio.ensure_future(self._find(emit))
        try:
            await asyncio.wait({leaving, finding}, return_when=asyncio.FIRST_COMPLETED)
            if not finding.done():
                raise Gone
            finding.result()
            self._end = "done"
        except ApiError as error:
            self._end = error.code or "error"
            raise
        finally:
            self.leave()
            leaving.cancel()
            finding.cancel()
            await asyncio.gather(leaving, finding, return_exceptions=True)
            self._tell()

    def leave(self) -> None:
        """Let the rows go that are not done."""
        for ticket in self._tickets:
            self.service.engine.cancel(ticket)

    async def _find(self, emit: Emit) -> None:
        seconds = self.service.settings.limits.request_seconds
        try:
            async with asyncio.timeout(seconds):
                while any(choice.growing.reason is None for choice in self.answer.choices):
                    await self._wait(emit)
                    for index, ticket in enumerate(self._tickets):
                        news = ticket.news()
                        if news:
                            await self._take(index, news, emit)
        except TimeoutError:
            raise timed_out(seconds) from None

    async def _wait(self, emit: Emit) -> None:
        try:
            async with asyncio.timeout(SILENCE):
                await self._bell.wait()
        except TimeoutError:
            await emit(0, None, "")
        self._bell.clear()

    async def _take(self, index: int, news: News, emit: Emit) -> None:
        if news.error:
            raise news.error
        choice = self.answer.choices[index]
        if choice.growing.reason:
            return
        text = choice.feed(news)
        if choice.growing.reason and not news.done:
            # A stop string has come: what follows need not be decoded.
            self.service.engine.cancel(self._tickets[index])
        if news.recording:
            html = await asyncio.to_thread(draw, news.recording)
            self.answer.trace = f"/v1/traces/{self.service.traces.keep(html)}"
        await emit(index, news, text)

    def _tell(self) -> None:
        answer, metrics = self.answer, self.service.metrics
        metrics.tokens.labels("prompt").inc(answer.usage["prompt_tokens"])
        metrics.tokens.labels("completion").inc(answer.usage["completion_tokens"])
        summary = {key: answer.summary[key] for key in ("method", "steps", "passes", "seconds")}
        reasons = [choice.growing.reason for choice in answer.choices]
        said: dict[str, Any] = {"id": answer.id, "end": self._end, "finish": reasons}
        if self.service.settings.log_prompts:
            said |= self._words()
        tell("answered", **said, **answer.usage, **summary)

    def _words(self) -> dict[str, Any]:
        text = self.asked.plan.model.text
        prompts = [job.row.tokens[: job.row.start] for job in self.asked.jobs]
        answers = [choice.growing.text for choice in self.answer.choices]
        return {"prompts": [text.decode(i) if text else i for i in prompts], "answers": answers}


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
