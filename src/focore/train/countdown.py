"""Countdown: make a target from three numbers, each used once, with + - * /."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from .problem import Problem, apply, worked

HIGHEST = 100  # of the numbers and of the target, as in the public test
HARD_SHARE = 0.25  # problems that + and - alone cannot solve; a tenth of the public test


@dataclass(frozen=True)
class Solution:
    """One step on two numbers, then one on its result and the third, either way round."""

    first: tuple[int, str, int, int]
    second: tuple[int, str, int, int]
    turned: bool  # the result of the first is the right side of the second

    @property
    def simple(self) -> bool:
        return self.first[1] in "+-" and self.second[1] in "+-"

    @property
    def expression(self) -> str:
        """The solution in one line, the first step in brackets."""
        a, operator, b, _ = self.first
        left, last, right, _ = self.second
        inner = f"({a}{operator}{b})"
        return f"{left}{last}{inner}" if self.turned else f"{inner}{last}{right}"


def solutions(numbers: Sequence[int]) -> dict[int, Solution]:
    """One solution for every target that `numbers` can make: the first of a fixed order.

    Always the same one, so that a model need not average over many: only + and - if they do,
    the larger of two numbers first, the largest pair first.
    """
    x, y, z = sorted(numbers, reverse=True)
    found: dict[int, Solution] = {}
    for operators in ("+-", "+-*/"):
        for a, b, c in ((x, y, z), (y, z, x), (x, z, y)):
            for solution in _from_pair(a, b, c, operators):
                found.setdefault(solution.second[3], solution)
    return found


def _from_pair(a: int, b: int, c: int, operators: str) -> list[Solution]:
    found = []
    for first in operators:
        middle = apply(a, first, b)
        if middle is None:
            continue
        for second in operators:
            for turned in (False, True) if second in "-/" else (False,):
                left, right = (c, middle) if turned else (middle, c)
                last = apply(left, second, right)
                if last is not None and 1 <= last <= HIGHEST:
                    steps = (a, first, b, middle), (left, second, right, last)
                    found.append(Solution(*steps, turned))
    return found


def prompt(numbers: Sequence[int], target: int) -> str:
    """The question as the shipped model knows it."""
    return f"Use {', '.join(map(str, numbers))} once each to make {target}."


def answer(solution: Solution) -> str:
    """Two equations and the whole expression, a line each."""
    return f"{worked([solution.first, solution.second])}\n{solution.expression}"


def key(numbers: Sequence[int]) -> str:
    """The numbers in order: with any target and in any permutation, they stay in one split."""
    return "countdown " + ",".join(map(str, sorted(numbers)))


def sample(rng: random.Random) -> Problem:
    """A random problem that can be solved."""
    while True:
        numbers = [rng.randint(1, HIGHEST) for _ in range(3)]
        hard = rng.random() < HARD_SHARE
        found = solutions(numbers)
        targets = [target for target, solution in found.items() if solution.simple != hard]
        if targets:
            target = rng.choice(targets)
            question = prompt(numbers, target)
            return Problem("countdown", question, answer(found[target]), key(numbers))
