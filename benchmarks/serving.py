"""Many streams against one at a time on a real server of this machine, loopback only.

    python -m benchmarks.serving [--streams 200] [--alone 20] [--tokens 32] [--method focore]

A server with one decoder and one with two, each alone on the machine. Prints JSON, and the table of
docs/serving.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import httpx

import focore

from .load import calling, server

LEAVING = 50  # clients that go away midway
ROUNDS = 3  # of all streams together; memory is compared between the first and the last
PATIENCE = 60.0  # seconds until the rows of clients that left must be gone


@dataclass(frozen=True)
class Found:
    """What was measured."""

    ready_seconds: float  # from the start of the process, imports included
    alone_tokens_a_second: float
    together_tokens_a_second: list[float]  # of each round
    speedup: float  # of the median round
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
    await streamed(client, body(given.model, 0, given.tokens, given.method))
    begin = time.perf_counter()
    for number in range(given.alone):
        await streamed(client, body(given.model, number, given.tokens, given.method))
    return given.alone * given.tokens / (time.perf_counter() - begin)


async def together(
    client: httpx.AsyncClient, given: argparse.Namespace
) -> tuple[list[float], list[float], list[str]]:
    """Tokens a second and memory of each round, and the last round's texts."""
    rates, memory, texts = [], [], []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        asked = [body(given.model, n, given.tokens, given.method) for n in range(given.streams)]
        texts = await asyncio.gather(*(streamed(client, each) for each in asked))
        rates.append(given.streams * given.tokens / (time.perf_counter() - begin))
        memory.append((await counts(client))["process_resident_memory_bytes"] / 1e6)
    return rates, memory, texts


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


async def measure(
    address: str, given: argparse.Namespace, ready: float, expected: list[str]
) -> Found:
    async with calling(address) as client:
        alone = await one_at_a_time(client, given)
        rates, memory, texts = await together(client, given)
        left, late, running = await departures(client, given)
    return Found(
        ready_seconds=ready,
        alone_tokens_a_second=alone,
        together_tokens_a_second=rates,
        speedup=sorted(rates)[len(rates) // 2] / alone,
        equal=texts == expected,
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


def table(found: Mapping[int, Found], given: argparse.Namespace) -> str:
    """A column for each server."""
    all_of = list(found.values())

    def line(what: str, value: Callable[[Found], str]) -> str:
        return " | ".join([f"| {what}", *(value(each) for each in all_of)]) + " |"

    def several(values: list[float], unit: str) -> str:
        return ", ".join(f"{value:.0f}" for value in values) + f" {unit}"

    decoders = " | ".join(f"{count} decoder{'s' * (count > 1)}" for count in found)
    lines = [
        f"| {given.model}, {given.method}, {given.tokens} tokens | {decoders} |",
        "| --- |" + " ---: |" * len(found),
        line("ready after", lambda f: f"{f.ready_seconds:.1f} s"),
        line("one at a time", lambda f: f"{f.alone_tokens_a_second:.0f} tokens/s"),
        line(
            f"{given.streams} streams together, {ROUNDS} rounds",
            lambda f: several(f.together_tokens_a_second, "tokens/s"),
        ),
        line("throughput, together / alone", lambda f: f"{f.speedup:.1f} x"),
        line("answers equal to single runs", lambda f: "all" if f.equal else "NOT ALL"),
        line("memory after each round", lambda f: several(f.megabytes, "MB")),
        line(f"rows let go when {LEAVING} clients left", lambda f: str(f.left)),
        line("steps they took afterwards", lambda f: f"{f.steps_after_leaving:.0f}"),
        line("rows running afterwards", lambda f: f"{f.running_after_leaving:.0f}"),
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--method", default="focore")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--alone", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--decoders", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    expected, found = singles(given), {}
    for count in given.decoders:
        begin = time.perf_counter()
        with server(given.model, "--limit", f"decoders={count}") as address:
            ready = time.perf_counter() - begin
            found[count] = asyncio.run(measure(address, given, ready, expected))
        print(json.dumps({"decoders": count, **asdict(found[count])}), flush=True)
    print(f"\n{table(found, given)}")


if __name__ == "__main__":
    main()
