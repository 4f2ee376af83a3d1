"""Expressions of whole numbers, read and computed exactly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

TOKEN = re.compile(r"\s*(?:(\d+)|([-+*/()]))")
LONGEST = 300  # characters


def makes(expression: str, numbers: Sequence[int], target: int) -> bool:
    """Whether an expression uses each number once and makes the target."""
    try:
        value, used = evaluate(expression)
    except (ValueError, ZeroDivisionError):
        return False
    return value == target and sorted(used) == sorted(numbers)


def evaluate(expression: str) -> tuple[Fraction, list[int]]:
    """The exact value of an expression of whole numbers, + - * / and brackets; its numbers."""
    if len(expression) > LONGEST:
        raise ValueError("an expression that is too long")
    reading = Reading(_tokens(expression))
    value = reading.sum()
    if reading.left:
        raise ValueError(f"{reading.left[0]!r} is left over")
    return value, reading.used


def _tokens(expression: str) -> list[str]:
    tokens, place, end = [], 0, len(expression.rstrip())
    while place < end:
        match = TOKEN.match(expression, place)
        if match is None:
            raise ValueError(f"{expression[place]!r} is not part of an expression")
        tokens.append(match[1] or match[2])
        place = match.end()
    return tokens


@dataclass
class Reading:
    """An expression being read: sum of products of numbers and brackets."""

    left: list[str]

    def __post_init__(self) -> None:
        self.used: list[int] = []

    def sum(self) -> Fraction:
        value = self.product()
        while self.left and self.left[0] in "+-":
            sign = 1 if self.left.pop(0) == "+" else -1
            value += sign * self.product()
        return value

    def product(self) -> Fraction:
        value = self.atom()
        while self.left and self.left[0] in "*/":
            divide = self.left.pop(0) == "/"
            atom = self.atom()
            value = value / atom if divide else value * atom
        return value

    def atom(self) -> Fraction:
        token = self.left.pop(0) if self.left else ""
        if token.isdigit():
            self.used.append(int(token))
            return Fraction(token)
        if token != "(":
            raise ValueError(f"a number was expected, not {token!r}")
        value = self.sum()
        if not self.left or self.left.pop(0) != ")":
            raise ValueError("a bracket is not closed")
        return value
