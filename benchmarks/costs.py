"""What the steps of the server's engine cost on this machine, and a line through them."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import focore
from focore.canvas import Row
from focore.generation import Plan, row_seeds
from focore.serve.lanes import Lane
from focore.serve.simulate import Linear
from focore.serve.tickets import Job, Ticket
from focore.train import held_out

ROWS = (1, 2, 4, 8, 16, 32)
ANSWERS = (16, 32, 64)  # tokens
TASKS = ("countdown", "words", "arithmetic")


@dataclass(frozen=True)
class Step:
    """One step of the engine."""

    rows: int
    longest: int  # tokens
    seconds: float


def problems(count: int) -> list[str]:
    """Held-out prompts of the shipped model's tasks, one task after the other."""
    each = [held_out(task, "test", -(-count // len(TASKS))) for task in TASKS]
    return [problem.prompt for some in zip(*each, strict=True) for problem in some][:count]


def planned(model: focore.Model, method: str, length: int) -> Plan:
    return Plan.make(model, method, 0, {"gen_length": length})


def laid(plan: Plan, prompts: Sequence[str]) -> list[Row]:
    """The rows of chats with one message each."""
    return [plan.continuation([{"role": "user", "content": p}], None) for p in prompts]


async def decode(plan: Plan, prompts: Sequence[str]) -> tuple[list[Step], int]:
    """The steps of rows decoded side by side to the end, and the sum over the rows of theirs."""
    rows = laid(plan, prompts)
    jobs = [Job(plan, row, s) for row, s in zip(rows, row_seeds(plan.seed, rows), strict=True)]
    tickets = [Ticket(job, backlog=1, bell=asyncio.Event()) for job in jobs]
    lane = Lane(None, plan, watch=False)
    lane.admit(tickets)
    steps = []
    while len(lane):
        longest = max(len(ticket.job.row.tokens) for ticket in lane.tickets.values())
        rows_now, begin = len(lane), time.perf_counter()
        lane.step()
        steps.append(Step(rows_now, longest, time.perf_counter() - begin))
    return steps, sum(ticket.tally.steps for ticket in tickets)


def measure(
    model: focore.Model, method: str, rows: Sequence[int], answers: Sequence[int], repeats: int
) -> dict[str, Any]:
    """The cost of a step of a method, and how many steps a token takes."""
    prompts = problems(max(rows) * repeats)
    asyncio.run(decode(planned(model, method, min(answers)), prompts[:2]))  # not counted
    steps: list[Step] = []
    taken = tokens = 0
    for turn in range(repeats):
        for count in rows:
            for length in answers:
                some = prompts[turn * count : (turn + 1) * count]
                found, sum_ = asyncio.run(decode(planned(model, method, length), some))
                steps, taken, tokens = steps + found, taken + sum_, tokens + count * length
    return {**summary(steps), "steps_per_token": taken / tokens}


def summary(steps: Sequence[Step]) -> dict[str, Any]:
    """The line through the mean of each shape, and how far the means are from it."""
    shapes: dict[tuple[int, int], list[float]] = defaultdict(list)
    for step in steps:
        shapes[step.rows, step.longest].append(step.seconds)
    tokens = [rows * longest for rows, longest in shapes]
    seconds = [fmean(times) for times in shapes.values()]
    line = Linear.fit(tokens, seconds)
    errors = [abs(line(*shape) / mean - 1) for shape, mean in zip(shapes, seconds, strict=True)]
    return {"steps": len(steps), **asdict(line), "error": fmean(errors), "worst": max(errors)}
