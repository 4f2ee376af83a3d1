"""Mathematical answers by math-verify."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from focore.tasks import mathematics, scoring
from focore.tasks.data import load
from focore.tasks.mathematics import same


@pytest.mark.parametrize(
    ("text", "solution"),
    [
        (r"so \boxed{0.5}", r"\boxed{\frac{1}{2}}"),
        (r"\boxed{\dfrac12}", r"\boxed{\frac{1}{2}}"),
        (r"\boxed{x^2+2x+1}", r"\boxed{(x+1)^2}"),
        (r"\boxed{(3, \frac{\pi}{2})}", r"\boxed{\left( 3, \frac{\pi}{2} \right)}"),
        (r"\boxed{\text{Evelyn}}", r"\boxed{\text{Evelyn}}"),
        ("The final answer is $7$.", r"\boxed{7}"),
    ],
)
def test_same(text: str, solution: str) -> None:
    assert same(text, solution)


@pytest.mark.parametrize(
    ("text", "solution"),
    [
        (r"\boxed{2}", r"\boxed{3}"),
        ("", r"\boxed{3}"),
        (r"\boxed{}", r"\boxed{3}"),
        (r"\boxed{\text{Evelyn or Ann}}", r"\boxed{\text{Evelyn}}"),
    ],
)
def test_different(text: str, solution: str) -> None:
    assert not same(text, solution)


def test_an_endless_comparison_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same(r"\boxed{0.5}", r"\boxed{\frac{1}{2}}")  # the helper is running
    monkeypatch.setattr(mathematics, "SECONDS", 1.0)
    assert not same(r"\boxed{9^{9^{9^{9}}}}", r"\boxed{7^{8^{9^{9}}}}")
    monkeypatch.undo()
    assert same(r"\boxed{0.5}", r"\boxed{\frac{1}{2}}")


def test_any_thread_may_compare() -> None:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(same(r"\boxed{0.25}", r"\boxed{1/4}")))
    thread.start()
    thread.join()
    assert found == [True]


@pytest.mark.shared
def test_references_are_right(shared: Path) -> None:
    docs = load("math500", shared / "data")
    assert len(docs) == 500
    assert all(scoring.math500(doc, [doc["solution"]]) == {"accuracy": 1.0} for doc in docs)


@pytest.mark.shared
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_math_verify_alone(shared: Path, monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    monkeypatch.setattr(mathematics, "_plain", lambda text: object())
    for doc in load("math500", shared / "data")[::every]:
        assert scoring.math500(doc, [doc["solution"]]) == {"accuracy": 1.0}
        head, _, _ = doc["solution"].rpartition(r"\boxed")
        for wrong in (r"\boxed{1234567}", r"\boxed{x^{13} + 7}", r"\boxed{}"):
            assert scoring.math500(doc, [head + wrong]) == {"accuracy": 0.0}
