"""Is an answer right?"""

from __future__ import annotations

import re

from ..expressions import makes
from .problem import Problem

NUMBER = re.compile(r"\d+")


def correct(problem: Problem, text: str) -> bool:
    """Whether the last line of an answer solves the problem."""
    last = text.rstrip().rpartition("\n")[2]
    if problem.task == "countdown":
        *given, target = NUMBER.findall(problem.prompt)
        return makes(last, [int(number) for number in given], int(target))
    return last == problem.answer.rpartition("\n")[2]
