"""Two real replicas on a local Ray cluster, one of them killed under load."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import focore
from focore.loading import Model

pytestmark = pytest.mark.slow
PATIENCE = 900.0  # seconds; Ray takes long to start on a busy machine
KEY = {"Authorization": "Bearer secret"}
AT_ONCE, REQUESTS, LENGTH = 8, 32, 48


def descendants(root: int) -> dict[int, str]:
    """The processes below one, and what they are called."""
    parents, names = {}, {}
    for folder in Path("/proc").iterdir():
        try:
            status = (folder / "stat").read_text()
            names[int(folder.name)] = (folder / "cmdline").read_bytes().decode().strip("\0")
            parents[int(folder.name)] = int(status.rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
    found: dict[int, str] = {}
    below = {root}
    while below:
        below = {pid for pid, parent in parents.items() if parent in below}
        found |= {pid: names[pid] for pid in below}
    return found


class OnRay:
    """`focore serve --ray` as a process."""

    def __init__(self, folder: Path):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        said = ["--model", str(folder), "--port", str(self.port), "--api-key", "secret"]
        command = [sys.executable, "-m", "focore.cli", "serve", "--ray", "--replicas", "2", *said]
        environment = {k: v for k, v in os.environ.items() if k != "RAY_ADDRESS"}
        self.process = subprocess.Popen(command, env=environment)

    def replicas(self) -> set[int]:
        """Those that have started."""
        found = descendants(self.process.pid).items()
        begun = (item for item in found if "initialize" not in item[1])
        return {pid for pid, name in begun if name.startswith("ray::ServeReplica")}

    def until(self, what: Any) -> None:
        end = time.monotonic() + PATIENCE
        while not what():
            assert self.process.poll() is None, "the server has ended"
            assert time.monotonic() < end, "it never happened"
            time.sleep(0.5)

    def ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/ready", timeout=30).status_code == 200
        except httpx.TransportError:
            return False

    def post(self, body: Any, headers: dict[str, str] = KEY) -> httpx.Response:
        path = f"{self.url}/v1/completions"
        return httpx.post(path, json=body, headers=headers, timeout=PATIENCE)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[OnRay]:
    made = OnRay(folder)
    try:
        made.until(made.ready)
        yield made
    finally:
        below = descendants(made.process.pid)
        made.process.terminate()
        try:
            made.process.wait(PATIENCE)
        finally:
            for pid in (made.process.pid, *below):
                if Path(f"/proc/{pid}").exists():
                    os.kill(pid, signal.SIGKILL)


def body(name: str, place: int, **more: Any) -> dict[str, Any]:
    return {
        "model": name,
        "prompt": f"number {place} of many",
        "max_tokens": LENGTH,
        "temperature": 1.0,
        "seed": place,
        "focore": {"method": ("confidence", "focore")[place % 2]},
        **more,
    }


def expected(model: Model, place: int) -> str:
    asked = body("", place)
    return focore.generate(
        model,
        asked["prompt"],
        method=asked["focore"]["method"],
        seed=place,
        gen_length=LENGTH,
        temperature=1.0,
        chat=False,
    ).text


def test_the_same_manners_through_ray(server: OnRay, folder: Path) -> None:
    assert server.post(body(folder.name, 0), {}).status_code == 401
    refused = server.post(body(folder.name, 0, max_tokens=100_000))
    assert refused.status_code == 400 and refused.json()["error"]["param"] == "max_tokens"
    assert server.post(body(folder.name, 0, prompt="x" * (2 << 20))).status_code == 413


def test_streams_come_step_by_step(server: OnRay, model: Model, folder: Path) -> None:
    asked = body(folder.name, 1, stream=True, focore={"method": "focore", "stream": "steps"})
    path = f"{server.url}/v1/completions"
    with httpx.stream("POST", path, json=asked, headers=KEY, timeout=PATIENCE) as answer:
        lines = [line for line in answer.iter_lines() if line.startswith("data: ")]
    assert lines.pop() == "data: [DONE]"
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert sum("canvas" in chunk.get("focore", {}) for chunk in chunks) == LENGTH
    assert "".join(c["choices"][0]["text"] for c in chunks if c["choices"]) == expected(model, 1)


def test_one_of_two_killed_under_load(server: OnRay, model: Model, folder: Path) -> None:
    texts = {place: expected(model, place) for place in range(REQUESTS)}
    server.until(lambda: len(server.replicas()) == 2)
    before = server.replicas()
    running: set[int] = set()
    in_flight: set[int] = set()
    done, lock = threading.Semaphore(0), threading.Lock()

    def ask(place: int) -> httpx.Response | None:
        with lock:
            running.add(place)
        try:
            return server.post(body(folder.name, place))
        except httpx.TransportError:
            return None
        finally:
            with lock:
                running.discard(place)
            done.release()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = [pool.submit(ask, place) for place in range(REQUESTS)]
        for _ in range(REQUESTS // 4):
            done.acquire()
        with lock:
            in_flight |= running
            os.kill(min(before), signal.SIGKILL)
    given = {place: each.result() for place, each in enumerate(answers)}
    failed = {place for place, one in given.items() if one is None or one.status_code != 200}
    for place in given.keys() - failed:
        found = given[place]
        assert found is not None and found.json()["choices"][0]["text"] == texts[place]
    assert len(failed) < len(in_flight), f"{failed} failed, {in_flight} were under way"

    server.until(lambda: len(server.replicas()) == 2 and server.ready())
    assert min(before) not in server.replicas()
    again = [server.post(body(folder.name, place)) for place in range(AT_ONCE)]
    found_again = [one.json()["choices"][0]["text"] for one in again]
    assert found_again == [texts[place] for place in range(AT_ONCE)]


def test_told_to_stop_it_leaves_nothing_behind(server: OnRay) -> None:
    below = descendants(server.process.pid)
    assert any(name.startswith("ray::ServeReplica") for name in below.values())
    server.process.terminate()
    assert server.process.wait(PATIENCE) == 0
    end = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in below) and time.monotonic() < end:
        time.sleep(0.5)
    assert not [name for pid, name in below.items() if Path(f"/proc/{pid}").exists()]
