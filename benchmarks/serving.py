"""Many streams against one at a time on a real server of this machine, loopback only.

    python -m benchmarks.serving [--streams 200] [--alone 20] [--tokens 32] [--method focore]

Prints JSON, and a table for docs/serving.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from dataclasses import asdict, dataclass
from typing import Any

import httpx

import focore

from .figures import ratios
from .load import calling, server

LEAVING = 50  # clients that go away midway
ROUNDS = 3  # of all streams together; memory is compared between the first and the last
PATIENCE = 60.0  # seconds until the rows of clients that left must be gone


@dataclass(frozen=True)
class Found:
    """What was measured."""

    ready_seconds: float  # from the start of the process, imports included
    alone_tokens_a_second: list[float]  # of each round
    together_tokens_a_second: list[float]
    speedup: float  # the median of the rounds
    equal: bool  # every streamed answer is that of a single run
    megabytes: list[float]  # resident, after each round
    left: int  # rows that were let go
    steps_after_leaving: float  # all rows together, from when the server knew
    running_after_leaving: float


def body(model: str, number: int, tokens: int, method: str, **more: Any) -> dict[str, Any]:
    prompt = f"Ann has {number % 17 + 2} apples and buys {number % 23 + 3} more. How many now?"
    messages = [{"role": "user", "content": f"{prompt} ({number})"}]
    asked = {"model": model, "messages": messages, "max_tokens": tokens, "stream": True}
    return {**asked, "focore": {"method": method, **more}}


async def streamed(client: httpx.AsyncClient, asked: dict[str, Any]) -> str:
    """The text of a stream that must end well."""
    text, lines = "", []
    async with client.stream("POST", "/v1/chat/completions", json=asked) as answer:
        answer.raise_for_status()
        lines = [line async for line in answer.aiter_lines() if line.startswith("data: ")]
    assert lines.pop() == "data: [DONE]"
    for line in lines:
        text += json.loads(line[6:])["choices"][0]["delta"].get("content", "")
    return text


async def leaves(client: httpx.AsyncClient, asked: dict[str, Any]) -> None:
    """Go away after the first step."""
    async with client.stream("POST", "/v1/chat/completions", json=asked) as answer:
        async for line in answer.aiter_lines():
            if '"step"' in line:
                return


async def counts(client: httpx.AsyncClient) -> dict[str, float]:
    text = (await client.get("/metrics")).text
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


async def one_at_a_time(client: httpx.AsyncClient, given: argparse.Namespace) -> float:
    """Tokens a second of streams that never meet."""
    begin = time.perf_counter()
    for number in range(given.alone):
        await streamed(client, body(given.model, number, given.tokens, given.method))
    return given.alone * given.tokens / (time.perf_counter() - begin)


async def together(client: httpx.AsyncClient, given: argparse.Namespace) -> tuple[float, list[str]]:
    """Tokens a second of all streams at once, and their texts."""
    begin = time.perf_counter()
    asked = [body(given.model, n, given.tokens, given.method) for n in range(given.streams)]
    texts = await asyncio.gather(*(streamed(client, each) for each in asked))
    return given.streams * given.tokens / (time.perf_counter() - begin), texts


async def departures(
    client: httpx.AsyncClient, given: argparse.Namespace
) -> tuple[int, float, float]:
    """Rows let go, steps they took afterwards, and rows left running."""
    before = await counts(client)
    asked = [body(given.model, n, 256, given.method, stream="steps") for n in range(LEAVING)]
    await asyncio.gather(*(leaves(client, each) for each in asked))
    end = time.monotonic() + PATIENCE
    while (now := await counts(client))["focore_rows_running"] and time.monotonic() < end:
        await asyncio.sleep(0.05)
    name, late = 'focore_rows_total{end="cancelled"}', "focore_steps_after_cancel_total"
    left = int(now.get(name, 0) - before.get(name, 0))
    return left, now[late] - before[late], now["focore_rows_running"]


async def measure(address: str, given: argparse.Namespace, ready: float) -> Found:
    alone, rates, memory, texts = [], [], [], []
    async with calling(address) as client:
        await streamed(client, body(given.model, 0, given.tokens, given.method))
        for _ in range(ROUNDS):  # in turns, so that a busy moment falls on both
            alone.append(await one_at_a_time(client, given))
            rate, texts = await together(client, given)
            rates.append(rate)
            memory.append((await counts(client))["process_resident_memory_bytes"] / 1e6)
        left, late, running = await departures(client, given)
    return Found(
        ready_seconds=ready,
        alone_tokens_a_second=alone,
        together_tokens_a_second=rates,
        speedup=statistics.median(ratios(rates, alone)),
        equal=texts == singles(given),
        megabytes=memory,
        left=left,
        steps_after_leaving=late,
        running_after_leaving=running,
    )


def singles(given: argparse.Namespace) -> list[str]:
    """The same answers, each by a run of its own."""
    model = focore.load(given.model)
    asked = [body(given.model, n, given.tokens, given.method) for n in range(given.streams)]
    options = {"method": given.method, "gen_length": given.tokens}
    return [focore.generate(model, each["messages"], **options).text for each in asked]


def table(found: Found, given: argparse.Namespace) -> str:
    alone, rounds, memory = (
        ", ".join(f"{value:.0f}" for value in values)
        for values in (
            found.alone_tokens_a_second,
            found.together_tokens_a_second,
            found.megabytes,
        )
    )
    rows = [
        ("ready after", f"{found.ready_seconds:.1f} s"),
        (f"one at a time, {ROUNDS} rounds", f"{alone} tokens/s"),
        (f"{given.streams} streams together, in turns with these", f"{rounds} tokens/s"),
        ("throughput, together / alone, the median", f"{found.speedup:.1f} x"),
        ("answers equal to single runs", "all" if found.equal else "NOT ALL"),
        ("memory after each round", f"{memory} MB"),
        (f"rows let go when {LEAVING} clients left", str(found.left)),
        ("steps they took afterwards", f"{found.steps_after_leaving:.0f}"),
        ("rows running afterwards", f"{found.running_after_leaving:.0f}"),
    ]
    lines = [f"| {what} | {value} |" for what, value in rows]
    return "\n".join(
        [f"| {given.model}, {given.method}, {given.tokens} tokens | |", "| --- | ---: |", *lines]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--method", default="focore")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--alone", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=32)
    given = parser.parse_args()
    begin = time.perf_counter()
    with server(given.model) as address:
        found = asyncio.run(measure(address, given, time.perf_counter() - begin))
    print(json.dumps(asdict(found)))
    print(f"\n{table(found, given)}")


if __name__ == "__main__":
    main()
