"""A problem with its worked answer."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST = 999  # every number, given or computed, is one token

Equation = tuple[int, str, int, int]  # left, operator, right, result


@dataclass(frozen=True)
class Problem:
    """A question, its worked answer, and the key by which splits keep it apart.

    The key says what is asked and of which numbers, not in which words: problems that differ
    only in names, objects, wording or the order of the numbers share it.
    """

    task: str
    prompt: str
    answer: str
    key: str


def apply(left: int, operator: str, right: int) -> int | None:
    """The result of one operation, or None unless it is a whole number from 0 to 999."""
    if operator == "/":
        if right == 0 or left % right:
            return None
        result = left // right
    else:
        result = {"+": left + right, "-": left - right, "*": left * right}[operator]
    return result if 0 <= result <= LARGEST else None


def worked(equations: list[Equation]) -> str:
    """The equations one below the other, as answers write them."""
    return "\n".join(f"{a}{operator}{b}={c}" for a, operator, b, c in equations)
