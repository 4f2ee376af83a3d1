"""Programs that try to pass without being right."""

from __future__ import annotations

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
