"""Many clients at once: every answer as alone, nothing left of those who go."""

from __future__ import annotations

import asyncio
import gc
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

import focore
from focore.loading import Model
from focore.serve.settings import ServeSettings
from focore.serve.tickets import Ticket
from tests.serve.live import PATIENCE, Live, until

METHODS: list[dict[str, Any]] = [
    {"method": "focore"},
    {"method": "confidence", "block_length": 3},
    {"method": "cfg", "guidance_scale": 0.5},
    {"method": "threshold"},
]


def asked(number: int, length: int) -> dict[str, Any]:
    own = METHODS[number % len(METHODS)]
    return {"prompt": f"Ann has {number}", "max_tokens": length, "stream": True, "focore": own}


async def streamed(client: httpx.AsyncClient, url: str, body: dict[str, Any]) -> str:
    async with client.stream("POST", f"{url}/v1/completions", json=body) as answer:
        assert answer.status_code == 200
        lines = [line async for line in answer.aiter_lines() if line.startswith("data: ")]
    assert lines.pop() == "data: [DONE]"
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines]
    return "".join(chunk["choices"][0]["text"] for chunk in chunks)


def client() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=PATIENCE, limits=httpx.Limits(max_connections=None))


def alone(model: Model, body: dict[str, Any]) -> str:
    length = body["max_tokens"]
    return focore.generate(
        model, body["prompt"], chat=False, gen_length=length, **body["focore"]
    ).text


def together(url: str, name: str, bodies: list[dict[str, Any]]) -> list[str]:
    async def ask() -> list[str]:
        async with client() as one:
            return await asyncio.gather(*(streamed(one, url, {**b, "model": name}) for b in bodies))

    return asyncio.run(ask())


def test_two_hundred_streams_are_each_as_alone(live: Live, model: Model) -> None:
    bodies = [asked(number, 4 + number % 5) for number in range(200)]
    texts = together(live.url, "small", bodies)
    assert texts == [alone(model, body) for body in bodies]
    until(lambda: live.idle)
    assert live.count("focore_rows_total", end="done") == 200


def test_fifty_clients_that_leave_midway_leave_nothing(live: Live, model: Model) -> None:
    before = live.count("focore_rows_total", end="cancelled")
    late = live.count("focore_steps_after_cancel_total")

    async def leave(one: httpx.AsyncClient, number: int) -> None:
        body = {**asked(number, 400), "model": "small"}
        body["focore"] = {**body["focore"], "stream": "steps"}
        async with one.stream("POST", f"{live.url}/v1/completions", json=body) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: {"):
                    return

    async def ask() -> str:
        async with client() as one:
            staying = asyncio.create_task(
                streamed(one, live.url, {**asked(7, 30), "model": "small"})
            )
            await asyncio.gather(*(leave(one, number) for number in range(50)))
            return await staying

    assert asyncio.run(ask()) == alone(model, asked(7, 30))
    until(lambda: live.idle)
    gone = live.count("focore_rows_total", end="cancelled") - before
    assert gone == 50
    # Counted from when the server knows: the step under way, and no other.
    assert live.count("focore_steps_after_cancel_total") - late <= gone
    until(lambda: not _tickets())
    assert not live.service.engine._lanes and not live.service.engine._since


def _tickets() -> list[Ticket]:
    gc.collect()
    return [thing for thing in gc.get_objects() if type(thing) is Ticket]


@pytest.mark.slow
def test_two_hundred_streams_of_the_shipped_model(tmp_path: Path) -> None:
    model = focore.load("tiny")
    bodies = [asked(number, 24 + number % 9) for number in range(200)]
    with Live(ServeSettings()) as live:
        texts = together(live.url, "tiny", bodies)
    assert texts == [alone(model, body) for body in bodies]
