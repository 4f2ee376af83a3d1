"""Countdown: does an answer use each number exactly once and make the target?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..expressions import makes

MATHS = re.compile(r"[\d\s+\-*/()=]*\d[\d\s+\-*/()=]*")
SIGNS = {
    "\N{MULTIPLICATION SIGN}": "*",
    "\N{DIVISION SIGN}": "/",
    "\N{MINUS SIGN}": "-",
    "\\times": "*",
    "\\cdot": "*",
    "\\div": "/",
    "\\left": "",
    "\\right": "",
    "\\[": " ",
    "\\]": " ",
    "[": "(",
    "]": ")",
}


def solves(text: str, numbers: Sequence[int], target: int) -> bool:
    """Whether the last line with an expression in it has one that solves the problem."""
    return any(makes(piece, numbers, target) for piece in _last(text))


def _last(text: str) -> list[str]:
    """The expressions of the last line that has any; an equation has one on either side."""
    for sign, plain in SIGNS.items():
        text = text.replace(sign, plain)
    for line in reversed(text.splitlines()):
        pieces = [piece for run in MATHS.findall(line) for piece in run.split("=")]
        found = [piece for piece in pieces if re.search(r"\d\s*\)*\s*[-+*/]", piece)]
        if found:
            return found
    return []
