"""The number that an answer comes to."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focore.tasks import scoring
from focore.tasks.data import load
from focore.tasks.numbers import answer, boxed, equal, numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("16 - 3 = 13\n#### 18", 18),
        ("#### 1,234.50 dollars", Fraction(2469, 2)),
        ("####-5", -5),
        ("So the answer is 42.", 42),
        ("The answer is $1,000,000, not 5.", 1000000),
        ("the final answer: **18** apples, from 3 boxes", 18),
        ("The answer is 12 + 6 = 18.", 18),
        ("Answer = 3.50", Fraction(7, 2)),
        (r"We get \boxed{\$1{,}250} in all; 3 of them", 1250),
        (r"\boxed{\frac{3}{4}}", Fraction(3, 4)),
        (r"first \boxed{1}, then \boxed{x = 2}", 2),
        ("She pays $5 and gets 3", 3),
        ("50% of the 80 is 40%", 40),
        ("a loss of -7", -7),
        ("from 3-5", 5),
        ("He has .5 of it", Fraction(1, 2)),
        ("He has 3 apples.", 3),
        ("a sum of -$20", -20),
        ("10 \N{MINUS SIGN} 2 = \N{MINUS SIGN}8", -8),
        ("The answer is 5\nQ: what is 7?", 5),
        ("1, 2, 3", 3),
        ("The answer is unknown. 9", 9),
        ("no number", None),
        ("", None),
        (r"\boxed{", None),
    ],
)
def test_answer(text: str, value: Fraction | None) -> None:
    assert answer(text) == value


def test_a_box_may_hold_braces() -> None:
    assert boxed(r"so \boxed{\frac{1}{2} + \{3\}} it is") == r"\frac{1}{2} + \{3\}"
    assert boxed("none") == ""


@given(st.integers(-(10**9), 10**9), st.sampled_from(["{}", "{:,}"]))
def test_whole_numbers_in_words(value: int, form: str) -> None:
    assert numbers(f"we have {form.format(value)} of them") == [value]


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    answer(text)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=0, max_value=10**6))
def test_decimals(value: object) -> None:
    assert equal(f"The answer is ${value}.", value)


@pytest.mark.shared
@pytest.mark.parametrize(("name", "key"), [("gsm8k", "answer"), ("svamp", "Answer")])
def test_references_are_right_and_damaged_ones_wrong(shared: Path, name: str, key: str) -> None:
    docs = load(name, shared / "data")
    score = getattr(scoring, name)
    assert len(docs) == {"gsm8k": 1319, "svamp": 1000}[name]
    for doc in docs:
        head, _, number = doc[key].rpartition("#### ")
        (value,) = numbers(number)
        assert score(doc, [doc[key]]) == {"accuracy": 1.0}
        assert score(doc, [f"{head}\nThe answer is {float(value):g}."[-4000:]]) == {
            "accuracy": float(numbers(f"{float(value):g}") == [value])
        }
        assert score(doc, [f"{head}#### {float(value + 1)}"]) == {"accuracy": 0.0}
        assert score(doc, [f"{head}#### {float(-value - 1)}"]) == {"accuracy": 0.0}
        assert score(doc, [""]) == {"accuracy": 0.0}
