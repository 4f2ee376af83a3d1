"""Whether two mathematical answers are the same, by math-verify in a process of its own.

Comparing expressions may take for ever and cannot always be interrupted: a power of powers is one
long calculation in C. math-verify's own limits rest on signals, which work in the main thread only.
A helper process that is killed when it takes too long does for every thread and every answer.
"""

from __future__ import annotations

import atexit
import json
import select
import subprocess
import sys
import threading
from typing import IO

from .numbers import BOX, boxed

VERSION = "0.9.0"
SECONDS = 20.0  # for one pair of answers; the first one waits for the imports, too
MEMORY = 4 << 30


def same(text: str, solution: str) -> bool:
    """Whether an answer ends in the result of the reference solution."""
    expected, said = boxed(solution), boxed(text)
    if not said.strip() and BOX.search(text):
        return False
    if said and _plain(said) == _plain(expected):
        return True
    return _helper.ask(f"${expected}$", text)


def _plain(text: str) -> str:
    """The text without what does not change its meaning."""
    for old, new in (("\\left", ""), ("\\right", ""), ("dfrac", "frac"), ("tfrac", "frac")):
        text = text.replace(old, new)
    return "".join(text.split()).rstrip(".")


class Helper:
    """The process that compares, started when it is first needed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[str] | None = None

    def ask(self, expected: str, text: str) -> bool:
        with self.lock:
            process = self._running()
            assert process.stdin and process.stdout
            try:
                process.stdin.write(json.dumps([expected, text]) + "\n")
                process.stdin.flush()
                if select.select([process.stdout], [], [], SECONDS)[0]:
                    return self._read(process.stdout)
            except BrokenPipeError:
                pass
            self.stop()
            return False

    def _read(self, stream: IO[str]) -> bool:
        line = stream.readline()
        if not line:
            self.stop()
            return False
        return bool(json.loads(line))

    def _running(self) -> subprocess.Popen[str]:
        if self.process is None or self.process.poll() is not None:
            require()
            self.process = subprocess.Popen(
                [sys.executable, "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        return self.process

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                assert stream
                stream.close()
            except BrokenPipeError:
                pass
        self.process.wait()
        self.process = None


_helper = Helper()
atexit.register(_helper.stop)


def require() -> None:
    """An `OptionError` unless math-verify is there, in the version the numbers are made with."""
    from importlib.metadata import PackageNotFoundError, version

    from ..errors import OptionError

    try:
        found = version("math-verify")
    except PackageNotFoundError:
        raise OptionError(
            f"math500 needs math-verify=={VERSION}: pip install focore[eval]"
        ) from None
    if found != VERSION:
        raise OptionError(f"math500 needs math-verify=={VERSION}, and {found} is installed")


def compare(expected: str, text: str) -> bool:
    """Both answers parsed and compared, here and now."""
    from math_verify import parse, verify

    return bool(verify(parse(expected), parse(text)))


def serve() -> None:
    """Compare the pairs that come by standard input, one a line."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin:
        try:
            result = compare(*json.loads(line))
        except Exception:  # whatever math-verify stumbles over is not the right answer
            result = False
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    serve()
