"""Jobs in, answers out: decoding rows of like length together, each with a seed of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from ..canvas import Row, continuation
from ..decoding.loop import Step
from ..generation import BATCH_SIZE, Plan, Runner, row_seeds


@dataclass(frozen=True)
class Job:
    """An answer to compute: `gen_length` tokens after a fixed prefix, itself after a prompt."""

    prompt: list[int]
    prefix: list[int]
    seed: int = 0


@dataclass(frozen=True)
class Answer:
    """The tokens after the prefix, and what they took."""

    tokens: list[int]
    steps: int
    passes: int
    seconds: float  # each step's time shared among the rows that took part in it


@dataclass
class Spent:
    """What a row has taken so far."""

    steps: int = 0
    passes: int = 0
    seconds: float = 0.0


def seeded(plan: Plan, jobs: Sequence[Job]) -> list[Job]:
    """The jobs with the seeds that `generate` would give them as one list of prompts."""
    seeds = row_seeds(plan.seed, [row_of(plan, job) for job in jobs])
    return [Job(job.prompt, job.prefix, seed) for job, seed in zip(jobs, seeds, strict=True)]


def row_of(plan: Plan, job: Job) -> Row:
    """The row of a job; the prefix does not count towards `gen_length`."""
    settings = plan.settings
    assert settings.block_length and settings.steps
    return continuation(
        job.prompt,
        len(job.prefix) + settings.gen_length,
        settings.block_length,
        settings.steps,
        plan.model.mask_id,
        {0: job.prefix} if job.prefix else {},
    )


def answers(plan: Plan, jobs: Sequence[Job], batch_size: int) -> Iterator[tuple[int, Answer]]:
    """Decode jobs side by side; each answer as soon as it is done, with the index of its job.

    A row that is done makes place for the next one. Long rows go first, so that rows of like
    length are side by side.
    """
    rows = [row_of(plan, job) for job in jobs]
    waiting = sorted(range(len(rows)), key=lambda i: len(rows[i].tokens))
    spent = [Spent() for _ in rows]
    runner = Runner(plan)
    while waiting or len(runner.batch):
        begin = time.perf_counter()
        names = [waiting.pop() for _ in range(min(batch_size - len(runner.batch), len(waiting)))]
        if names:
            runner.admit([rows[i] for i in names], [jobs[i].seed for i in names], names)
        step = runner.batch.step()
        for name, tokens in _record(step, spent, begin):
            first = rows[name].start + len(jobs[name].prefix)
            answer = tokens[first : len(rows[name].tokens)].tolist()
            yield name, Answer(answer, **vars(spent[name]))


def _record(step: Step, spent: Sequence[Spent], begin: float) -> list[tuple[int, Tensor]]:
    """Add a step to what its rows have spent; the rows that it finished, with their tokens."""
    names, counts, done = step.row.tolist(), step.passes.tolist(), step.done.tolist()
    share = (time.perf_counter() - begin) / len(names)
    for place, name in enumerate(names):
        spent[name].steps += 1
        spent[name].passes += counts[place]
        spent[name].seconds += share
    return [(name, step.tokens[place]) for place, name in enumerate(names) if done[place]]


class Answering(Protocol):
    """Whatever computes answers: this process, or workers elsewhere."""

    def __call__(self, plan: Plan, jobs: Sequence[Job]) -> Iterator[tuple[int, Answer]]: ...


class Here:
    """Compute answers in this process."""

    def __init__(self, batch_size: int):
        self.batch_size = BATCH_SIZE.check(batch_size)

    def __call__(self, plan: Plan, jobs: Sequence[Job]) -> Iterator[tuple[int, Answer]]:
        return answers(plan, jobs, self.batch_size)
