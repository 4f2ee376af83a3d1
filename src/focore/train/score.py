"""Is an answer right?"""

from __future__ import annotations

import re

from ..tasks.countdown import evaluate
from .problem import Problem

NUMBER = re.compile(r"\d+")


def correct(problem: Problem, text: str) -> bool:
    """Whether the last line of an answer solves the problem."""
    last = text.rstrip().rpartition("\n")[2]
    if problem.task == "countdown":
        *given, target = NUMBER.findall(problem.prompt)
        return solves([int(number) for number in given], int(target), last)
    return last == problem.answer.rpartition("\n")[2]


def solves(numbers: list[int], target: int, expression: str) -> bool:
    """Whether an expression uses each number once and makes the target."""
    try:
        value, used = evaluate(expression)
    except (ValueError, ZeroDivisionError):
        return False
    return value == target and sorted(used) == sorted(numbers)
