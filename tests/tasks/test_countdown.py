"""The checker of Countdown expressions."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focore.expressions import evaluate
from focore.tasks import scoring
from focore.tasks.countdown import solves
from focore.tasks.data import load

GIVEN, TARGET = [30, 100, 93], 23


@pytest.mark.parametrize(
    "text",
    [
        "30-(100-93)",
        "100-93=7\n30-7=23\n30-(100-93)",
        "We try.\nThe answer is 30 - (100 - 93) = 23.",
        "23 = 30 - (100 - 93)",
        "30-(100-93) = 30-7 = 23",
        r"\[30 - \left(100 - 93\right)\]",
        "(93 \N{MINUS SIGN} 100) + 30",
    ],
)
def test_right(text: str) -> None:
    assert solves(text, GIVEN, TARGET)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "23",
        "30-7",
        "30-(100-93)+0",
        "30-(100-93)*1",
        "30+93-100+30-30",
        "30-(100-93",
        "30-100-93",
        "-(100-93)+30",
        "30-(100-93)\nno: 30+100-93",
        "30**1-(100-93)",
        "30//1-(100-93)",
        "__import__('os').system('x')",
        "(lambda: 23)()",
        "30/(100-100)-93",
        "(" * 5000 + "30",
    ],
)
def test_wrong(text: str) -> None:
    assert not solves(text, GIVEN, TARGET)


def test_exact_fractions() -> None:
    assert evaluate("1/3+1/3+1/3")[0] == 1
    assert evaluate("(8/3)*3") == (Fraction(8), [8, 3, 3])
    with pytest.raises(ValueError):
        evaluate("3 4")
    with pytest.raises(ZeroDivisionError):
        evaluate("1/(2-2)")


@given(
    st.recursive(st.integers(0, 99), lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner))
)
def test_agrees_with_python(tree: object) -> None:
    def text(node: object) -> str:
        return (
            f"({text(node[0])}{node[1]}{text(node[2])})" if isinstance(node, tuple) else str(node)
        )

    def value(node: object) -> Fraction:
        if not isinstance(node, tuple):
            return Fraction(node)  # type: ignore[arg-type]
        a, b = value(node[0]), value(node[2])
        return {"+": a + b, "-": a - b, "*": a * b, "/": a / b if node[1] == "/" else a}[node[1]]

    if len(text(tree)) <= 300:
        try:
            expected = value(tree)
        except ZeroDivisionError:
            return
        assert evaluate(text(tree))[0] == expected


@pytest.mark.shared
def test_public_problems(shared: Path) -> None:
    from focore.train.countdown import answer, solutions

    docs = load("countdown", shared / "data")
    assert len(docs) == 256
    solved = 0
    for doc in docs:
        found = solutions([int(n) for n in doc["input"].split(",")]).get(int(doc["output"]))
        if found:
            solved += 1
            assert scoring.countdown(doc, [answer(found)]) == {"accuracy": 1.0}
            assert scoring.countdown(doc, [answer(found) + "+1"]) == {"accuracy": 0.0}
            wrong = {**doc, "output": str(int(doc["output"]) + 1)}
            assert scoring.countdown(wrong, [answer(found)]) == {"accuracy": 0.0}
    assert solved > 200
