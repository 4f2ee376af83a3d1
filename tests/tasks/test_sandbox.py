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


FORGERIES = {
    "exit": "import os; os._exit(0)",
    "exit when called": "import os\ndef double(x): os._exit(0)",
    "sys.exit": "import sys\ndef double(x): sys.exit(0)",
    "atexit": "import atexit, os\natexit.register(lambda: os._exit(0))\ndef double(x): return 1",
    "equal to everything": (
        "class Any:\n"
        "    def __eq__(self, other): return True\n"
        "    def __bool__(self): return True\n"
        "def double(x): return Any()"
    ),
    "int that equals everything": (
        "class Any(int):\n    __eq__ = lambda self, other: True\n    __hash__ = int.__hash__\n"
        "def double(x): return Any(0)"
    ),
    "str that equals everything": (
        "class Any(str):\n    __eq__ = lambda self, other: True\n    __hash__ = str.__hash__\n"
        "def double(x): return Any('0')"
    ),
    "builtins": (
        "import builtins, sys\n"
        "builtins.AssertionError = KeyError\n"
        "builtins.exec = lambda *a: None\n"
        "builtins.__build_class__ = None\n"
        "def double(x): return 0"
    ),
    "trace": "import sys\nsys.settrace(lambda *a: None)\ndef double(x): return 0",
    "excepthook": "import sys\nsys.excepthook = lambda *a: None\ndef double(x): return 0",
    "patched modules": (
        "import sys\n"
        "for name, module in list(sys.modules.items()):\n"
        "    if 'focore' in name:\n"
        "        for key in ('_judge', '_report', 'encode', 'decode', 'main'):\n"
        "            if hasattr(module, key):\n"
        "                setattr(module, key, lambda *a, **k: {'passed': True})\n"
        "def double(x): return 0"
    ),
    "catches everything": (
        "def double(x):\n"
        "    while True:\n"
        "        try:\n"
        "            raise BaseException\n"
        "        except BaseException:\n"
        "            return None"
    ),
    "prints a pass": (
        "import os\n"
        'said = b\'{"passed": true, "reason": "", "walls": []}\'\n'
        "for fd in range(256):\n"
        "    try: os.write(fd, said)\n"
        "    except OSError: pass\n"
        "def double(x): return 0"
    ),
    "answers for itself": (
        "import json, os, threading\n"
        "def flood():\n"
        "    data = json.dumps(['value', True]).encode()\n"
        "    data = len(data).to_bytes(4, 'big') + data\n"
        "    while True:\n"
        "        for fd in range(3, 64):\n"
        "            try: os.write(fd, data)\n"
        "            except OSError: pass\n"
        "flood()\n"
    ),
    "opens the parent's files": (
        "import glob, os\n"
        'said = b\'{"passed": true, "reason": "", "walls": []}\'\n'
        "for path in glob.glob('/proc/[0-9]*/fd/*'):\n"
        "    try:\n"
        "        with open(path, 'wb') as file: file.write(said)\n"
        "    except OSError: pass\n"
        "def double(x): return 0"
    ),
    "looks for the tests in memory": (
        "import gc\n"
        "found = [o for o in gc.get_objects() if 'abab' in str(type(o)) or o == 'abab']\n"
        "for path in ('/proc/1/mem', '/proc/1/environ', '/proc/self/mem'):\n"
        "    try: open(path, 'rb').close()\n"
        "    except OSError: pass\n"
        "def double(x): return found[0]"
    ),
    "stops the tests": (
        "import os, signal\n"
        "for pid in (os.getppid(), 1, 0, -1):\n"
        "    for kind in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):\n"
        "        if pid not in (0, -1):\n"
        "            try: os.kill(pid, kind)\n"
        "            except OSError: pass\n"
        "def double(x): return 0"
    ),
    "kills everything": "import os\nos.kill(-1, 9)\ndef double(x): return 0",
    "its own assert": "def double(x): return 0\ndef check(f): return True\n__debug__ if 1 else 0",
    "deep value": ("def double(x):\n    v = []\n    for _ in range(100000): v = [v]\n    return v"),
    "large value": "def double(x): return 'x' * 50_000_000",
    "endless iterator": "import itertools\ndef double(x): return itertools.count()",
    "changes its mind": "import gc\ndef double(x): return [o for o in gc.get_objects()]",
}


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
