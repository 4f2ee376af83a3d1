"""Running generated code: a separate process, with walls and limits, and a verdict it cannot forge.

The generated program and its tests run in different processes. The tests call the program's
functions through a pipe and judge plain data that comes back; see `runner`, `remote` and `jail`.

What this withstands: a program that loops, forks, fills memory or disk, floods its output, deletes
or writes files, opens sockets, signals other processes, exits early, patches builtins, catches
everything, prints what a pass would print, or returns objects that equal everything. What it does
not: a hole in the kernel or in the interpreter's JSON reader; a program may also read any file that
its user may read (as root it runs as `nobody`), though it has no way to send it anywhere.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import OptionError

WALLS = ("network", "processes", "files")
START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from focore.tasks.runner import main; del sys.path[0]; main()"
)
REPORT_LIMIT = 100_000  # bytes


@dataclass(frozen=True)
class Limits:
    """What a program may use."""

    cpu_seconds: int = 10
    wall_seconds: float = 20.0
    memory: int = 512 << 20  # bytes of address space, of each process
    file_size: int = 1 << 20
    processes: int = 32
    open_files: int = 64

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not value > 0:
                raise OptionError(f"{name}={value!r} is not allowed; it must be above 0")


@dataclass(frozen=True)
class Trial:
    """A program, and what it is tried with.

    `given` runs on the side of the tests before them; `names` are those of the program that the
    tests may use.
    """

    program: str
    tests: Sequence[str]
    names: Sequence[str]
    given: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether all tests passed, and if not, why."""

    passed: bool
    reason: str
    walls: tuple[str, ...] = field(default=(), compare=False)

    @property
    def missing(self) -> tuple[str, ...]:
        """The walls that this kernel did not allow."""
        return tuple(wall for wall in WALLS if wall not in self.walls)


def run(trial: Trial, limits: Limits | None = None) -> Verdict:
    """Try a program in the sandbox."""
    limits = limits or Limits()
    with tempfile.TemporaryDirectory(prefix="focore-", ignore_cleanup_errors=True) as folder:
        home, library = _rooms(folder)
        first: dict[str, Any] = {"home": home, "library": library, "program": trial.program}
        first["limits"] = asdict(limits)
        second = {"given": trial.given, "names": [*trial.names], "tests": [*trial.tests]}
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", START, _root()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home,
            env={"HOME": home, "TMPDIR": home, "PATH": "/usr/bin:/bin"},
            start_new_session=True,
        )
        try:
            report, _ = child.communicate(_message(first) + _message(second), limits.wall_seconds)
        except subprocess.TimeoutExpired:
            return Verdict(False, f"no verdict after {limits.wall_seconds:g} seconds")
        finally:
            _end(child)
    return _verdict(report)


def _rooms(folder: str) -> tuple[str, str]:
    """A folder for the program to write, and one where the standard library may be shown."""
    os.chmod(folder, 0o755)
    rooms = f"{folder}/home", f"{folder}/library"
    for room, mode in zip(rooms, (0o777, 0o755), strict=True):
        os.mkdir(room)
        os.chmod(room, mode)
    return rooms


def _message(content: object) -> bytes:
    data = json.dumps(content).encode()
    return len(data).to_bytes(4, "big") + data


def _verdict(report: bytes) -> Verdict:
    if not report or len(report) > REPORT_LIMIT:
        return Verdict(False, "the tests ended without a verdict (a limit was reached)")
    found = json.loads(report)
    return Verdict(found["passed"] is True, found["reason"], tuple(found["walls"]))


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left: with the tests' process, the kernel ends all of its namespace."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.communicate()


def _root() -> str:
    return str(Path(__file__).resolve().parents[2])


@cache
def check() -> Verdict:
    """Whether a sandbox can be had here; an `OptionError` if generated code could do harm."""
    verdict = run(Trial("import math, random\ndef one(): return 1", ["assert one() == 1"], ["one"]))
    if not verdict.passed:
        raise OptionError(f"the sandbox does not work here: {verdict.reason}")
    if "files" not in verdict.walls and "user" not in verdict.walls:
        raise OptionError(
            "this kernel gives no user namespaces, so generated code could change your files; "
            "run in a container as root, or where user namespaces are allowed"
        )
    return verdict
