"""The likeliest tokens of a position, looked up after the step that writes it.

The head is applied to the positions just written only: one or a few a step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ..canvas import Canvas
from ..decoding.guidance import Denoise, Guidance, Guided
from ..decoding.noise import Noise
from ..decoding.policy import Compose
from ..generation import Plan


class Last:
    """The logits of the step just taken; belongs to all rows."""

    def __init__(self, suppressed: tuple[int, ...]):
        self.guided: Guided | None = None
        self.suppressed = suppressed

    @torch.inference_mode()
    def likeliest(self, row: Tensor, position: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Tokens and probabilities (n, count) at n positions, before any top-p or top-k cut."""
        assert self.guided is not None
        logits = self.guided.logits(row, position)
        logits[:, list(self.suppressed)] = -torch.inf
        top = logits.softmax(dim=1).topk(min(count, logits.shape[1]), dim=1)
        return top.indices, top.values


@dataclass(frozen=True)
class Peek:
    """Any guidance, with its logits left in `last`; it changes nothing."""

    guidance: Guidance
    last: Last

    def start(self) -> RunningPeek:
        return RunningPeek(self.guidance.start(), self.last)


@dataclass
class RunningPeek:
    guidance: Any
    last: Last

    def __call__(self, canvas: Canvas, denoise: Denoise, noise: Noise) -> Guided:
        guided: Guided = self.guidance(canvas, denoise, noise)
        self.last.guided = guided
        return guided


def peeked(plan: Plan) -> tuple[Plan, Last | None]:
    """The same plan with its logits in sight, if its method has one canvas."""
    policy = plan.policy
    if not isinstance(policy, Compose):
        return plan, None
    last = Last(policy.sampler.suppressed)
    return replace(plan, policy=replace(policy, guidance=Peek(policy.guidance, last))), last
