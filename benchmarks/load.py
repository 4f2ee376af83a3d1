"""Bounded load on a real server of this machine, beside what the simulation predicts for it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

import focore
from focore.serve.simulate import Requests, Service, simulate

from .costs import laid, planned, problems

PATIENCE = 120.0  # seconds until a server has to be ready


@dataclass(frozen=True)
class Trace:
    """The very requests that are simulated and sent."""

    requests: Requests
    prompts: list[str]
    answers: list[int]  # tokens


def drawn(model: focore.Model, service: Service, method: str, rate: float, count: int) -> Trace:
    """Real prompts at Poisson times."""
    random = np.random.default_rng(0)
    traffic = service.traffic
    some = problems(300)
    prompts = [some[i] for i in random.integers(len(some), size=count)]
    answers = [int(n) for n in random.choice(traffic.answers, size=count)]
    lengths = [
        len(laid(planned(model, method, n), [prompt])[0].tokens)
        for prompt, n in zip(prompts, answers, strict=True)
    ]
    steps = np.ceil(np.array(answers) * traffic.steps_per_token).astype(np.int64)
    arrival = np.cumsum(random.exponential(1 / rate, size=count))
    return Trace(Requests(arrival, np.array(lengths), steps), prompts, answers)


@contextlib.contextmanager
def server(model: str) -> Iterator[str]:
    """A server of its own process on loopback; its address, once it is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "focore.cli", "serve", "--model", model, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(60)


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{address}/ready").status_code == 200:
                return
        time.sleep(0.2)
    raise RuntimeError(f"the server did not get ready in {PATIENCE:.0f} s")


def calling(address: str) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    return httpx.AsyncClient(base_url=address, timeout=300, limits=limits)


async def ask(client: httpx.AsyncClient, model: str, method: str, trace: Trace, place: int) -> None:
    """Ask for one answer of the trace, which must come."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": trace.prompts[place]}],
        "max_tokens": trace.answers[place],
        "focore": {"method": method},
    }
    answer = await client.post("/v1/chat/completions", json=body)
    answer.raise_for_status()


async def send(address: str, model: str, method: str, trace: Trace) -> NDArray[np.float64]:
    """Send each request at its time, whatever became of the ones before; seconds of each."""
    async with calling(address) as client:
        begin = time.perf_counter()

        async def in_time(place: int) -> float:
            due = begin + float(trace.requests.arrival[place])
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await ask(client, model, method, trace, place)
            return time.perf_counter() - due

        return np.array(await asyncio.gather(*(in_time(i) for i in range(len(trace.prompts)))))


async def one_by_one(address: str, model: str, method: str, trace: Trace) -> float:
    """Mean seconds of requests that never meet, the first of which is not counted."""
    async with calling(address) as client:
        await ask(client, model, method, trace, 0)
        begin = time.perf_counter()
        for place in range(len(trace.prompts)):
            await ask(client, model, method, trace, place)
        return (time.perf_counter() - begin) / len(trace.prompts)


def overhead(address: str, model: focore.Model, service: Service, method: str) -> float:
    """Seconds of a request outside its steps: HTTP, JSON, tokens."""
    trace = drawn(model, service, method, 1.0, 30)
    measured = asyncio.run(one_by_one(address, model.name, method, trace))
    pairs = zip(trace.requests.steps.tolist(), trace.requests.length.tolist(), strict=True)
    steps = float(np.mean([n * service.cost(1, length) for n, length in pairs]))
    return max(0.0, measured - steps)


def compare(
    address: str, model: focore.Model, service: Service, method: str, rate: float, seconds: float
) -> dict[str, Any]:
    """Latencies predicted and measured of the same requests."""
    trace = drawn(model, service, method, rate, max(20, round(rate * seconds)))
    predicted = simulate(trace.requests, service.cost, service.rows, replicas=1).latency
    measured = asyncio.run(send(address, model.name, method, trace))
    said = {"predicted": predicted + service.overhead, "measured": measured}
    return {
        "rate": rate,
        "requests": len(trace.prompts),
        **{f"{kind}_mean": float(np.mean(values)) for kind, values in said.items()},
        **{f"{kind}_p95": float(np.quantile(values, 0.95)) for kind, values in said.items()},
    }
