"""The command as a process: started, killed, told to stop, and started wrongly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import focore
from focore.cli import main
from focore.loading import Model
from tests.serve.live import PATIENCE, until

PROMPT = {"model": "small", "prompt": "Ann has", "max_tokens": 8}


class Process:
    """`focore serve` on a port of its own."""

    def __init__(self, folder: Path, *arguments: str):
        command = [sys.executable, "-m", "focore.cli", "serve", "-m", str(folder), "--port", "0"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [*command, *arguments], stderr=subprocess.PIPE, text=True, env=environment
        )
        self.lines: list[dict[str, Any]] = []
        self.url = f"http://127.0.0.1:{self._until('listening')['port']}"
        self._until("ready")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _until(self, event: str) -> dict[str, Any]:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(json.loads(line))
            if self.lines[-1]["event"] == event:
                return self.lines[-1]
        raise AssertionError(f"it ended before it was {event}: {self.lines}")

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(json.loads(line))

    def end(self, number: int) -> int:
        """Send a signal, or none, and wait for the end."""
        if number:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


@contextmanager
def streams(url: str, count: int, **asked: Any) -> Iterator[list[Iterator[str]]]:
    """Streams that have begun."""
    body = {**PROMPT, "stream": True, **asked}
    with httpx.Client(timeout=PATIENCE, limits=httpx.Limits(max_connections=None)) as client:
        requests = [client.build_request("POST", f"{url}/v1/completions", json=body)] * count
        answers = [client.send(request, stream=True) for request in requests]
        lines = [answer.iter_lines() for answer in answers]
        for each in lines:
            next(each)
        yield lines
        for answer in answers:
            answer.close()


def test_killed_under_load_it_starts_again_and_stops_when_told(folder: Path, model: Model) -> None:
    steps = {"stream": "steps"}
    first = Process(folder)
    with streams(first.url, 5, max_tokens=300, focore=steps):
        assert first.end(signal.SIGKILL) == -signal.SIGKILL
    server = Process(folder, "-L", f"grace_seconds={PATIENCE}")
    made = httpx.post(f"{server.url}/v1/completions", json=PROMPT, timeout=PATIENCE).json()
    alone = focore.generate(model, "Ann has", chat=False, gen_length=8)
    assert made["choices"][0]["text"] == alone.text
    with streams(server.url, 3, max_tokens=200, focore=steps) as lines:
        server.process.send_signal(signal.SIGTERM)
        until(lambda: httpx.get(f"{server.url}/ready").status_code == 503)
        late = httpx.post(f"{server.url}/v1/completions", json=PROMPT, timeout=PATIENCE)
        assert late.status_code == 503 and late.json()["error"]["code"] == "stopping"
        assert httpx.get(f"{server.url}/health").status_code == 200
        for each in lines:
            assert [line for line in each if line][-1] == "data: [DONE]"
    assert server.end(0) == 0
    assert {"stopping", "answered"} <= {line["event"] for line in server.lines}


def test_what_does_not_finish_in_time_is_told(folder: Path) -> None:
    server = Process(folder, "-L", "grace_seconds=0.05")
    with streams(server.url, 2, max_tokens=450, focore={"stream": "steps"}) as lines:
        server.process.send_signal(signal.SIGTERM)
        for each in lines:
            last = [line for line in each if line][-1]
            assert json.loads(last.removeprefix("data: "))["error"]["code"] == "stopping"
    assert server.end(0) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "--api-key"),
        (["-m", "/nowhere"], "nowhere"),
        (["--method", "focor"], "did you mean 'focore'"),
        (["-O", "core_tokns=3"], "did you mean 'core_tokens'"),
        (["-L", "row=3"], "did you mean 'rows'"),
        (["-L", "rows=many"], "not a number"),
        (["-L", "rows=0"], "above 0"),
        (["--host", "256.1.1.1", "--no-auth"], "cannot listen"),
        (["--replicas", "2"], "need --ray"),
        (["--ray", "--ray-address", "head:6379"], "--api-key"),
        (["-O", "gen_length=5000"], "more than the 1024 allowed"),
    ],
)
def test_a_mistake_is_one_line(
    capfd: pytest.CaptureFixture[str], folder: Path, arguments: list[str], words: str
) -> None:
    command = ["serve", "--port", "0", *([] if "-m" in arguments else ["-m", str(folder)])]
    with pytest.raises(SystemExit) as stop:
        main([*command, *arguments])
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("focore: ")]
    assert stop.value.code == 2 and len(said) == 1 and words in said[0]
