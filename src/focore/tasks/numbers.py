"""The number that an answer in words comes to."""

from __future__ import annotations

import re
from fractions import Fraction

NUMBER = re.compile(
    r"(?P<minus>(?<![\w.)\]}]) ?-)?\s?\$?\s?"
    r"(?P<whole>\d{1,3}(?:,\d{3})+(?!,?\d)|\d+)?(?P<part>\.\d+)?"
    r"(?(whole)|(?(part)|(?!)))"  # at least one of the two
    r"(?:\s?/\s?(?P<under>\d+))?"
)
SAID = re.compile(r"answer\s*(?:is|was|:|=)", re.IGNORECASE)
BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
REWRITTEN = (
    (re.compile(r"\\[td]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r"\1/\2"),
    (re.compile(r"(?<=\d)(?:\{,\}|\\,|\\!)+(?=\d)"), ","),
    (re.compile(r"\\(?=[$%])"), ""),
    (re.compile("\N{MINUS SIGN}"), "-"),
    (re.compile(r"\*\*|\\text\s*\{[^{}]*\}"), " "),
)


def answer(text: str) -> Fraction | None:
    """The number after `####`, in the last box, after "answer is", or the last one there is."""
    for said in (_marked(text), boxed(text), _stated(text)):
        found = numbers(said) if said else []
        if found:
            return found[-1] if "=" in said else found[0]
    found = numbers(text)
    return found[-1] if found else None


def equal(text: str, expected: object) -> bool:
    """Whether an answer comes to the expected number."""
    number = answer(str(expected))
    return number is not None and answer(text) == number


def numbers(text: str) -> list[Fraction]:
    """All numbers of a text: 1,000 and $5 and 3.50 and 1/2 and -7; the % of 50% is left out."""
    for pattern, replacement in REWRITTEN:
        text = pattern.sub(replacement, text)
    found = []
    for match in NUMBER.finditer(text):
        value = Fraction((match["whole"] or "0").replace(",", "") + (match["part"] or ""))
        if match["under"] and int(match["under"]):
            value /= int(match["under"])
        found.append(-value if match["minus"] else value)
    return found


def boxed(text: str) -> str:
    """What the last box holds."""
    starts = [match.end() for match in BOX.finditer(text)]
    if not starts:
        return ""
    depth = 1
    for place in range(starts[-1], len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[starts[-1] : place]
    return text[starts[-1] :]


def _marked(text: str) -> str:
    return _line(text.rpartition("####")[2]) if "####" in text else ""


def _stated(text: str) -> str:
    ends = [match.end() for match in SAID.finditer(text)]
    return _line(text[ends[-1] :]) if ends else ""


def _line(text: str) -> str:
    return text.strip().partition("\n")[0]
