"""How many held-out problems a checkpoint solves by plain confidence decoding."""

from __future__ import annotations

from pathlib import Path

from .. import generate, load
from .problems import TASKS, held_out
from .score import correct

LENGTH = 32  # no answer is longer


def accuracy(folder: Path, count: int) -> dict[str, float]:
    """Share of `count` problems of each task that the checkpoint in `folder` solves."""
    model, found = load(folder), {}
    for task in TASKS:
        problems = held_out(task, "dev", count)
        prompts = [problem.prompt for problem in problems]
        answers = generate(model, prompts, method="confidence", gen_length=LENGTH)
        right = [correct(p, a.text) for p, a in zip(problems, answers, strict=True)]
        found[task] = sum(right) / count
    return found
