"""Rows that do not wait: many prompts of mixed lengths on the shipped model."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import focore
from focore.train import held_out

from .figures import Figure, interleaved, ratios

BATCH = 16
OPTIONS: dict[str, Any] = {"method": "focore_a", "gen_length": 32, "stop_at_eos": True}


def mixed_prompts(count: int) -> list[str]:
    """Held-out problems of all tasks in random order: prompts short and long."""
    tasks = ("countdown", "words", "arithmetic")
    found = [p.prompt for task in tasks for p in held_out(task, "test", -(-count // 3))]
    random.Random(0).shuffle(found)
    return found[:count]


def ways(model: focore.Model, prompts: Sequence[str]) -> dict[str, Callable[[], list[list[int]]]]:
    """One at a time, in fixed batches in the order of arrival, and as rows become free."""

    def run(some: Sequence[str], size: int) -> list[list[int]]:
        return [c.tokens for c in focore.generate(model, list(some), batch_size=size, **OPTIONS)]

    def fixed(size: int) -> list[list[int]]:
        groups = [prompts[i : i + size] for i in range(0, len(prompts), size)]
        return [tokens for group in groups for tokens in run(group, size)]

    return {
        "one": lambda: fixed(1),
        "fixed": lambda: fixed(BATCH),
        "continuous": lambda: run(prompts, BATCH),
    }


def batching(count: int, repeats: int, model: str = "tiny") -> list[Figure]:
    """Throughput of continuous batches over one at a time and over fixed batches."""
    found: dict[str, list[list[int]]] = {}

    def keeping(name: str, call: Callable[[], list[list[int]]]) -> Callable[[], None]:
        return lambda: found.update({name: call()})

    calls = ways(focore.load(model), mixed_prompts(count))
    seconds = interleaved({name: keeping(name, call) for name, call in calls.items()}, repeats)
    if not found["one"] == found["fixed"] == found["continuous"]:
        raise SystemExit("batches give other tokens than single runs")
    label = f"{count} prompts, batch {BATCH}, focore_a: continuous /"
    return [
        Figure(f"{label} one at a time", ratios(seconds["one"], seconds["continuous"]), 3.0),
        Figure(f"{label} fixed batches", ratios(seconds["fixed"], seconds["continuous"]), 1.3),
    ]
