"""What the sandbox starts: walls, then the program in one process and its tests in another.

    launcher: builds the walls and waits
      tests: first process of its namespace; asks the program for values, judges them, reports
        program: the generated code; has one pipe to the tests and nothing else

The program is started before the tests are read, so that its memory has never held them. It can end
in any way and say anything: a test passes only if the values it asked for are right.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any

from . import jail
from .remote import Asker, Broken, Channel, Objects

REPORT = 1  # the pipe to the parent, in the place of standard output


def main() -> None:
    """Read the job from standard input, run it, and write a verdict to the parent."""
    job = _read()
    walls = jail.enter(job["home"], job["library"])
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os._exit(0)
    jail.die_with_parent()
    jail.limit(job["limits"])
    ask, program = _start(job["program"])
    verdict = _judge(_read(), ask)
    with suppress(OSError):
        os.killpg(program, signal.SIGKILL)  # for kernels where it does not end with its namespace
    _report({"walls": walls, **verdict})


def _read() -> Any:
    """One message of standard input, not a byte more."""
    return Channel(0, REPORT).receive()


def _report(verdict: dict[str, Any]) -> None:
    os.write(REPORT, json.dumps(verdict).encode())
    os._exit(0)


def _start(program: str) -> tuple[Asker, int]:
    """The way to ask the program, and the process that it has of its own."""
    theirs, ours = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        _serve(program, theirs[0], ours[1])
    os.close(theirs[0])
    os.close(ours[1])
    return Asker(Channel(ours[0], theirs[1])), child


def _serve(program: str, read: int, write: int) -> None:
    """Run the program, then answer questions about it until nobody asks."""
    os.setsid()
    jail.die_with_parent()
    jail.hide()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    low, high = sorted((read, write))
    for first, last in ((3, low), (low + 1, high), (high + 1, 256)):
        os.closerange(first, last)
    channel = Channel(read, write)
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    try:
        exec(compile(program, "<program>", "exec"), space)
        channel.send(["value", None])
    except BaseException as error:
        channel.send(["error", type(error).__name__, str(error)[:500]])
    objects = Objects(space)
    while True:
        request = channel.receive()
        answer = objects.answer(request)
        try:
            channel.send(answer)
        except (TypeError, ValueError, RecursionError) as error:
            channel.send(["error", type(error).__name__, "the value cannot be sent"])


def _judge(job: dict[str, Any], ask: Asker) -> dict[str, Any]:
    """Run the tests; what they see of the program are answers to questions."""
    space: dict[str, Any] = {"__name__": "__tests__"}
    place = "the program"
    try:
        kind, *rest = ask.channel.receive()
        if kind != "value":
            return {"passed": False, "reason": f"{place}: {rest[0]}: {rest[1]}"}
        place = "the given part"
        exec(job["given"], space)
        place = "the names"
        for name in job["names"]:
            space[name] = ask("name", name)
        for number, test in enumerate(job["tests"], 1):
            place = f"test {number} of {len(job['tests'])}"
            exec(test, space)
    except Broken as error:
        return {"passed": False, "reason": f"{place}: {error}"}
    except BaseException as error:
        text = f"{place}: {type(error).__name__}: {error}".rstrip(": ")
        return {"passed": False, "reason": text[:500]}
    return {"passed": True, "reason": ""}


if __name__ == "__main__":
    main()
    sys.exit(1)
