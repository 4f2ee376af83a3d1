"""A decoding step: guidance, then proposals, then a choice of positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from ..canvas import Canvas
from .commit import Commit
from .guidance import Denoise, Guidance, Notes
from .noise import Noise
from .sampler import Proposal, Sampler


@dataclass(frozen=True)
class Decision:
    """What one step does to the canvas."""

    tokens: Tensor  # (rows, length) the canvas after the step
    committed: Tensor  # (rows, length) bool: positions written in this step
    confidence: Tensor  # (rows, length) probability of the token proposed, 0 where none was
    notes: Notes


class Policy(Protocol):
    """A whole method: its running form turns a canvas and a `denoise` into a `Decision`."""

    def start(self) -> Any: ...


@dataclass(frozen=True)
class Compose:
    """A policy of three pieces."""

    guidance: Guidance
    sampler: Sampler
    commit: Commit

    def start(self) -> RunningCompose:
        return RunningCompose(self.guidance.start(), self.sampler, self.commit.start())


@dataclass
class RunningCompose:
    guidance: Any
    sampler: Sampler
    commit: Any

    def __call__(self, canvas: Canvas, denoise: Denoise, noise: Noise) -> Decision:
        guided = self.guidance(canvas, denoise, noise)

        def propose(where: Tensor) -> Proposal:
            return self.sampler.propose(guided, where, noise)

        choice = self.commit(canvas, guided, propose, noise)
        proposal = choice.proposal
        return Decision(
            tokens=torch.where(choice.where, proposal.token, canvas.tokens),
            committed=choice.where,
            confidence=proposal.probability,
            notes={**guided.notes, **choice.notes},
        )
