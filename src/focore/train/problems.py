"""The tasks, and the splits that keep their problems apart."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable

from ..errors import OptionError, unknown
from . import arithmetic, countdown, words
from .problem import Problem
from .public import COUNTDOWN

TASKS: dict[str, Callable[[random.Random], Problem]] = {
    "countdown": countdown.sample,
    "words": words.sample,
    "arithmetic": arithmetic.sample,
}
SPLITS = ("train", "dev", "test")
HELD_OUT = 40  # one problem in so many is kept for dev, and one for test
PATIENCE = 100  # draws in a row that may bring nothing new


def digest(key: str) -> bytes:
    """Eight bytes that stand for a problem."""
    return hashlib.blake2b(key.encode(), digest_size=8).digest()


def split(key: str) -> str:
    """The split of a problem, a matter of its key alone; "public" is in nobody's split."""
    code = digest(key)
    if code in COUNTDOWN:
        return "public"
    return {0: "dev", 1: "test"}.get(int.from_bytes(code) % HELD_OUT, "train")


def sample(task: str, part: str, rng: random.Random) -> Problem:
    """A random problem of a task from one split."""
    if task not in TASKS:
        raise unknown("task", task, TASKS)
    if part not in SPLITS:
        raise unknown("split", part, SPLITS)
    while True:
        problem = TASKS[task](rng)
        if split(problem.key) == part:
            return problem


def held_out(task: str, part: str, count: int, seed: int = 0) -> list[Problem]:
    """A fixed list of different problems of a held-out split."""
    rng = random.Random(f"{task} {part} {seed}")
    found: dict[str, Problem] = {}
    known = 0
    while len(found) < count:
        problem = sample(task, part, rng)
        known = known + 1 if problem.key in found else 0
        found.setdefault(problem.key, problem)
        if known == PATIENCE:
            raise OptionError(
                f"the {part} split of {task} has fewer than {count} different problems; "
                f"ask for at most {len(found)}"
            )
    return list(found.values())
