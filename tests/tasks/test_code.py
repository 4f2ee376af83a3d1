"""Programs in answers, and the references of HumanEval and MBPP in the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from focore.tasks import scoring
from focore.tasks.code import blocks, body, completed, imports_of, names_in, names_of, program
from focore.tasks.data import load
from focore.tasks.sandbox import Trial, run

HEAD = 'def f(x):\n    """Twice x."""\n'


def test_blocks() -> None:
    text = "Sure:\n```python\nx = 1\n```\nand\n```\ny = 2\n```\n```py\nz = 3"
    assert blocks(text) == ["x = 1", "y = 2", "z = 3"]


def test_the_block_that_defines_the_function_is_taken() -> None:
    text = "```python\nprint(1)\n```\n```python\ndef f(x):\n    return x\n```"
    assert program(text, ["f"]) == "def f(x):\n    return x"
    assert program(text) == "print(1)"
    assert program("def f(x): return x\n[DONE] more") == "def f(x): return x\n"


@pytest.mark.parametrize(
    "answer",
    [
        "    return 2 * x\n",
        "    return 2 * x\n\nprint(f(1))\ndef f(x): return 0\n",
        "```python\ndef f(x):\n    return 2 * x\n```\nIt doubles.",
        "```python\n    return 2 * x\n```",
        "def f(x):\n    return 2 * x",
        "Here it is:\n```python\ndef f(x):\n    return 2 * x",
    ],
)
def test_completed(answer: str) -> None:
    space: dict[str, Any] = {}
    exec(completed(HEAD, answer, "f"), space)
    assert space["f"](4) == 8


def test_body_ends_where_the_indent_does() -> None:
    assert body("    a\n\n    b\nc\n    d") == "    a\n\n    b\n"


def test_names() -> None:
    code = "import math\nfrom re import sub as s\nN: int = 1\nM = 2\ndef f(): pass\nclass C: pass"
    assert names_of(code) == ["N", "M", "f", "C"]
    assert imports_of(code) == "import math\nfrom re import sub as s"
    assert names_in("assert f(x) == len(y)") == {"f", "x", "y", "len"}


def test_asserts_keep_their_builtins() -> None:
    doc = {
        "code": "def f(x): return [x]",
        "test_list": ["assert len(f(1)) == 1", "assert set(f(2)) == {2}"],
        "test_setup_code": "",
    }
    assert scoring.mbpp(doc, ["def f(x): return [x]"]) == {"accuracy": 1.0}
    hostile = "def len(x): return 1\nclass set:\n    __eq__ = lambda *a: True\ndef f(x): return []"
    assert scoring.mbpp(doc, [hostile]) == {"accuracy": 0.0}


def results(name: str, docs: list[Any], answer: Callable[[Any], str]) -> list[bool]:
    trial: Callable[[Any, str], Trial] = getattr(scoring, f"{name}_trial")
    trials = [trial(doc, answer(doc)) for doc in docs]
    with ThreadPoolExecutor(2) as pool:
        return [verdict.passed for verdict in pool.map(run, trials)]


def reference(doc: Any) -> str:
    if "code" in doc:
        return str(doc["code"])
    return f"```python\n{doc['prompt']}{doc['canonical_solution']}\n```"


def damaged(doc: Any) -> str:
    """The reference, with every result wrapped."""
    names = names_of(doc["code"].replace("\r", "")) if "code" in doc else [doc["entry_point"]]
    code = doc["code"] if "code" in doc else doc["prompt"] + doc["canonical_solution"]
    tests = "\n".join(doc["test_list"]) if "code" in doc else f"{names[0]}()"
    wraps = [
        f"{name} = (lambda f: lambda *a, **k: ('damaged', f(*a, **k)))({name})"
        for name in names
        if f"{name}(" in tests
    ]
    return "```python\n" + "\n".join([code, *wraps]) + "\n```"


SLOW = pytest.mark.slow


@pytest.mark.shared
@pytest.mark.parametrize("every", [17, pytest.param(1, marks=SLOW)])
@pytest.mark.parametrize("name", ["humaneval", "mbpp"])
def test_references_pass_and_damaged_ones_do_not(shared: Path, name: str, every: int) -> None:
    docs = load(name, shared / "data")[::every]
    assert all(results(name, docs, reference))
    assert not any(results(name, docs, damaged))
    assert not any(results(name, docs, lambda doc: "pass"))


@pytest.mark.shared
def test_a_bare_continuation_is_a_reference_too(shared: Path) -> None:
    docs = load("humaneval", shared / "data")[::16]
    assert all(results("humaneval", docs, lambda doc: str(doc["canonical_solution"])))
