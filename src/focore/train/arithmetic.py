"""Plain arithmetic: the drills that the other tasks rest on, and short sums as problems."""

from __future__ import annotations

import random

from .problem import Equation, Problem, apply, worked

SUM_LIMIT = 400  # additions and subtractions stay below; few tasks need more
FACTOR_LIMIT = 99


def equation(rng: random.Random) -> Equation:
    """A random `a op b = c`; division comes out even."""
    operator = rng.choice("++--*/")
    if operator in "+-":
        high = rng.choice((100, 200, SUM_LIMIT))
        total = rng.randint(0, high)
        part = rng.randint(0, total)
        other = total - part
        return (part, "+", other, total) if operator == "+" else (total, "-", part, other)
    while True:
        a, b = rng.randint(1, FACTOR_LIMIT), rng.randint(1, rng.choice((12, 12, 12, FACTOR_LIMIT)))
        a, b = (a, b) if rng.random() < 0.5 else (b, a)
        product = apply(a, "*", b)
        if product is not None:
            return (a, "*", b, product) if operator == "*" else (product, "/", b, a)


def sample(rng: random.Random) -> Problem:
    """`What is 3*4+5?`, worked from left to right in one or two steps."""
    first = equation(rng)
    steps = [first]
    text = f"{first[0]}{first[1]}{first[2]}"
    if rng.random() < 0.7:
        text, second = _continued(rng, text, first)
        steps.append(second)
    answer = f"{worked(steps)}\nThe answer is {steps[-1][3]}"
    return Problem("arithmetic", f"What is {text}?", answer, f"arithmetic {text}")


def _continued(rng: random.Random, text: str, first: Equation) -> tuple[str, Equation]:
    """The text and equation of a second step on the result of the first."""
    value = first[3]
    while True:
        operator = rng.choice("++--*/")
        other = rng.randint(1, 99 if operator in "+-" else 12)
        result = apply(value, operator, other)
        if result is not None:
            inner = f"({text})" if operator in "*/" else text
            return f"{inner}{operator}{other}", (value, operator, other, result)
