"""Hostile programs: none passes, none does harm."""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from focore.errors import OptionError
from focore.tasks import sandbox
from focore.tasks.sandbox import Limits, Trial, Verdict, check, run
from tests.tasks.forgeries import FORGERIES

SMALL = Limits(cpu_seconds=2, wall_seconds=6, memory=256 << 20, processes=16)
RIGHT = "def double(x):\n    return 2 * x\n"
TESTS = ["assert double(2) == 4", "assert double('ab') == 'abab'"]


def attempt(program: str, limits: Limits = SMALL) -> Verdict:
    return run(Trial(program, TESTS, ["double"]), limits)


def test_a_right_program_passes_and_a_wrong_one_does_not() -> None:
    assert attempt(RIGHT).passed
    verdict = attempt("def double(x):\n    return x\n")
    assert not verdict.passed
    assert verdict.reason.startswith("test 1 of 2: AssertionError")


def test_walls_stand_here() -> None:
    verdict = check()
    assert verdict.missing == () or {"user"} <= set(verdict.walls)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("", "the names: KeyError"),
        ("def double(x) return 2", "the program: SyntaxError"),
        ("1 / 0", "the program: ZeroDivisionError"),
        ("def double(x): return 1 / 0", "test 1 of 2: ZeroDivisionError"),
        ("def double(y, z): return y", "test 1 of 2: TypeError"),
        ("def double(x): raise KeyboardInterrupt", "test 1 of 2: Exception: KeyboardInterrupt"),
    ],
)
def test_reasons(program: str, said: str) -> None:
    verdict = attempt(program)
    assert not verdict.passed
    assert verdict.reason.startswith(said)


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_do_not_pass(name: str) -> None:
    assert not attempt(FORGERIES[name]).passed


def test_endless_loop() -> None:
    begin = time.monotonic()
    assert not attempt("while True: pass", Limits(cpu_seconds=1, wall_seconds=5)).passed
    assert time.monotonic() - begin < 5


def test_endless_sleep_and_ignored_signals() -> None:
    program = (
        "import signal, time\n"
        "for kind in range(1, 32):\n"
        "    try: signal.signal(kind, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "while True: time.sleep(1)"
    )
    verdict = attempt(program, Limits(cpu_seconds=1, wall_seconds=1))
    assert verdict.reason == "no verdict after 1 seconds"


def processes() -> set[str]:
    return {name for name in os.listdir("/proc") if name.isdigit()}


LIMITED = """
import os, time
def double(x):
    made = 0
    for _ in range(60):
        try:
            if os.fork() == 0:
                time.sleep(60)
        except OSError:
            return ["stopped", made]
        made += 1
    return ["free", made]
"""


def test_fork_bomb() -> None:
    trial = Trial(LIMITED, ["assert double(1) == 0, str(double(1))"], ["double"])
    probe = run(trial, SMALL)
    assert "'stopped'" in probe.reason, probe  # the limit binds, so the bomb may be lit
    before = processes()
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    verdict = attempt(bomb, replace(SMALL, wall_seconds=2.5))
    assert not verdict.passed
    time.sleep(0.2)
    assert len(processes() - before) < 20


def test_children_do_not_outlive_the_trial() -> None:
    mark = f"sleeping-{os.getpid()}"
    program = (
        "import os, time, ctypes\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        f"        os.execv({sys.executable!r}, ['{mark}', '-c', 'import time; time.sleep(99)'])\n"
        "    os._exit(0)\n" + RIGHT
    )
    attempt(program)
    time.sleep(0.1)
    for process in processes():
        with suppress(OSError):
            assert mark.encode() not in Path(f"/proc/{process}/cmdline").read_bytes()


def test_memory_bomb() -> None:
    verdict = attempt("held = []\nwhile True: held.append(bytearray(1 << 24))")
    assert verdict.reason.startswith("the program: MemoryError")


def test_output_flood() -> None:
    program = "import sys\nfor _ in range(2000):\n    print('x' * 9999, file=sys.stderr)\n"
    assert attempt(program + RIGHT).passed


def test_disk_is_limited_and_emptied() -> None:
    program = (
        "import errno\n"
        "said = []\n"
        "for i in range(40):\n"
        "    try:\n"
        "        with open(f'file{i}', 'wb') as file: file.write(b'x' * (1 << 20))\n"
        "    except OSError as error: said.append(errno.errorcode[error.errno])\n"
        "def double(x): return sorted(set(said))"
    )
    verdict = run(Trial(program, ["assert double(1) == [], str(double(1))"], ["double"]), SMALL)
    if "files" in verdict.walls:
        assert "ENOSPC" in verdict.reason


def test_writing_and_deleting_outside(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("mine")
    kept.chmod(0o666)
    tmp_path.chmod(0o777)
    for parent in list(tmp_path.parents)[:-2]:
        if parent.stat().st_uid == os.getuid() and str(parent).startswith("/tmp/"):
            parent.chmod(0o755)
    program = (
        "import os, shutil\n"
        "said = []\n"
        f"old, new = {str(kept)!r}, {str(tmp_path / 'new')!r}\n"
        "for act in (lambda: open(old, 'w'), lambda: open(new, 'w'), lambda: os.remove(old),\n"
        "            lambda: open('/etc/passwd', 'a')):\n"
        "    try: act(); said.append('done')\n"
        "    except OSError: said.append('refused')\n"
        f"shutil.rmtree({str(tmp_path)!r}, ignore_errors=True)\n"
        "shutil.rmtree(os.path.expanduser('~'), ignore_errors=True)\n"
        f"shutil.rmtree({str(Path.home() / 'no-such-folder')!r}, ignore_errors=True)\n"
        "def double(x): return said"
    )
    verdict = run(
        Trial(program, ["assert double(1) == ['refused'] * 4, double(1)"], ["double"]), SMALL
    )
    if "files" in verdict.walls:
        assert verdict.passed, verdict
        assert kept.read_text() == "mine"
        assert list(tmp_path.iterdir()) == [kept]


def test_home_is_a_temporary_folder() -> None:
    program = (
        "import os\n"
        "def double(x): return [os.path.expanduser('~') == os.getcwd(), sorted(os.environ)]"
    )
    tests = [
        "assert double(1)[0] is True",
        "assert set(double(1)[1]) <= {'HOME', 'LC_CTYPE', 'PATH', 'TMPDIR'}",
    ]
    assert run(Trial(program, tests, ["double"]), SMALL).passed


def test_no_network() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.5)
    port = server.getsockname()[1]
    program = (
        "import socket\n"
        "def double(x):\n"
        "    try:\n"
        f"        socket.create_connection(('127.0.0.1', {port}), 1).close()\n"
        "    except OSError: return 'refused'\n"
        "    return 'open'"
    )
    with server:
        verdict = run(Trial(program, ["assert double(1) == 'refused'"], ["double"]), SMALL)
        assert verdict.passed or "network" in verdict.missing
        if verdict.passed:
            with pytest.raises(TimeoutError):
                server.accept()


def test_objects_of_the_program() -> None:
    program = (
        "class Node:\n"
        "    def __init__(self, value): self.value, self.left = value, None\n"
        "def depth(node): return 0 if node is None else 1 + depth(node.left)\n"
        "def squares(n): return (i * i for i in range(n))\n"
        "def kinds(): return {1: (2, {3}), 'a': [None, 1.5, True, b'x', 2j, frozenset([1])]}\n"
    )
    tests = [
        "root = Node(1)\nroot.left = Node(2)\nassert depth(root) == 2\nassert root.left.value == 2",
        "assert list(squares(4)) == [0, 1, 4, 9]",
        "assert kinds() == {1: (2, {3}), 'a': [None, 1.5, True, b'x', 2j, frozenset([1])]}",
        "assert depth(node=None) == 0",
        "assert root != Node(1)",
    ]
    verdict = run(Trial(program, tests, ["Node", "depth", "squares", "kinds"]), SMALL)
    assert verdict.passed, verdict


def test_limits_are_checked() -> None:
    with pytest.raises(OptionError, match="memory=0 is not allowed"):
        Limits(memory=0)


def test_without_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kernel allows none, root's programs run as nobody and others not at all."""
    refuse = "from focore.tasks import jail; jail.libc.unshare = lambda *flags: -1; "
    start = sandbox.START.replace("from focore", refuse + "from focore", 1)
    monkeypatch.setattr(sandbox, "START", start)
    verdict = attempt(RIGHT.replace("2 * x", "2 * x  # in plain sight"))
    assert verdict.missing == ("network", "processes", "files")
    sandbox.check.cache_clear()
    try:
        assert check().walls == ("user",)
    except OptionError as error:  # nobody may read a Python in root's home
        assert os.getuid() != 0 or "does not work here" in str(error)
    finally:
        sandbox.check.cache_clear()
