"""Is an answer right?"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from fractions import Fraction

from .problem import Problem

OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
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
    if sorted(int(found) for found in NUMBER.findall(expression)) != sorted(numbers):
        return False
    try:
        return _value(ast.parse(expression, mode="eval").body) == target
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return False


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    raise ValueError("not an expression of whole numbers")
