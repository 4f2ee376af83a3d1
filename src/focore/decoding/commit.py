"""Which positions now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from ..canvas import Canvas, highest
from .guidance import Guided, Notes
from .noise import Noise
from .options import Piece, option
from .sampler import Proposal
from .schedules import Schedule, released

Propose = Callable[[Tensor], Proposal]  # a proposal for (rows, length) positions


@dataclass(frozen=True)
class Choice:
    """The positions (rows, length) to write, from a proposal."""

    where: Tensor
    proposal: Proposal
    notes: Notes = field(default_factory=dict)


class Commit(Protocol):
    """A piece whose running form chooses positions.

    The running form is called with the canvas, the guided logits, `propose` and the noise, and
    returns a `Choice`. It commits at least what the schedule asks for.
    """

    def start(self) -> Any: ...


def at_least(quota: Tensor, wanted: Tensor, proposal: Proposal, canvas: Canvas) -> Tensor:
    """The wanted positions, and as many of the surest others as the quota still asks for."""
    first = torch.where(wanted, proposal.probability + 2, proposal.probability)
    count = torch.maximum(quota, (wanted & canvas.open).sum(dim=1))
    return highest(first, count, canvas.open)


@dataclass(frozen=True)
class TopK:
    """The highest scores, as many as the schedule says."""

    schedule: Schedule

    def start(self) -> TopK:
        return self

    def __call__(self, canvas: Canvas, guided: Guided, propose: Propose, noise: Noise) -> Choice:
        proposal = propose(canvas.open)
        return Choice(highest(proposal.score, self.schedule(canvas), canvas.open), proposal)


@dataclass(frozen=True)
class Threshold(Piece):
    """Fast-dLLM (arXiv 2505.22618): the surest position, and every other with p >= threshold.

    The public code has no bound on its steps in this mode; here a step also commits what the
    budget asks for, which changes nothing at steps = gen_length.
    """

    schedule: Schedule
    threshold: float = option(0.9, "commit every position at least this sure", low=0, high=1)

    def start(self) -> Threshold:
        return self

    def __call__(self, canvas: Canvas, guided: Guided, propose: Propose, noise: Noise) -> Choice:
        proposal = propose(canvas.open)
        sure = proposal.probability >= self.threshold
        quota = self.schedule(canvas).clamp(min=1)
        return Choice(at_least(quota, sure, proposal, canvas), proposal)


@dataclass(frozen=True)
class Factor(Piece):
    """Fast-dLLM's factor rule: the longest run of ranks r with (r + 1)(1 - p_r) <= factor.

    The surest position is always committed. A public loop also commits the last rank when it is
    the first to fail, and crashes without masks; neither is done here.
    """

    schedule: Schedule
    factor: float = option(1.0, "how much doubt a step may take on", low=0)

    def start(self) -> Factor:
        return self

    def __call__(self, canvas: Canvas, guided: Guided, propose: Propose, noise: Noise) -> Choice:
        proposal = propose(canvas.open)
        sure = torch.where(canvas.open, proposal.probability, -torch.inf)
        ranked = sure.sort(dim=1, descending=True).values
        rank = torch.arange(1, ranked.shape[1] + 1, device=ranked.device)
        fits = (rank + 1) * (1 - ranked) <= self.factor
        count = fits.long().cumprod(dim=1).sum(dim=1)
        quota = torch.maximum(self.schedule(canvas).clamp(min=1), count)
        return Choice(highest(proposal.probability, quota, canvas.open), proposal)


@dataclass(frozen=True)
class Release:
    """Dream's `origin`: every mask is released with probability 1 - s/t, in the last step all."""

    def start(self) -> Release:
        return self

    def __call__(self, canvas: Canvas, guided: Guided, propose: Propose, noise: Noise) -> Choice:
        draw = noise.everywhere(canvas.tokens.shape[1])
        return Choice(canvas.open & (draw < released(canvas)[:, None]), propose(canvas.open))
