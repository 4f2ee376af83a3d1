"""How many positions a step commits."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import torch
from torch import Tensor

from ..canvas import Canvas

FINAL_TIME = 1e-3  # Dream's epsilon


class Schedule(Protocol):
    """(rows,) how many positions each row commits in this step."""

    def __call__(self, canvas: Canvas) -> Tensor: ...


def even(canvas: Canvas) -> Tensor:
    """ceil(masks left in the block / steps left in the block)."""
    left, steps = canvas.open.sum(dim=1), canvas.steps_left.clamp(min=1)
    return (left + steps - 1) // steps


def dream(canvas: Canvas) -> Tensor:
    """Dream's: floor(masks left x (1 - s/t)), and all that is left in the last step.

    With as many steps as masks it commits nothing in the first step and two in the last.
    """
    return (canvas.open.sum(dim=1) * released(canvas)).long()


def released(canvas: Canvas) -> Tensor:
    """(rows,) the share 1 - s/t of the masks that Dream's schedule releases, in the last step 1."""
    steps = canvas.steps_left + canvas.block_step
    pairs = zip(steps.tolist(), canvas.block_step.tolist(), strict=True)
    shares = [_shares(total)[step] if step < total else 1.0 for total, step in pairs]
    return torch.tensor(shares, dtype=torch.float32, device=steps.device)


@lru_cache(maxsize=1024)
def _shares(steps: int) -> list[float]:
    """1 - s/t of each step on times from 1 to `FINAL_TIME`, in float32 as Dream has it."""
    times = torch.linspace(1, FINAL_TIME, steps + 1)
    shares = 1 - times[1:] / times[:-1]
    return [*shares[:-1].tolist(), 1.0]
