"""KLASS, KL-adaptive stability sampling (arXiv 2511.05664).

A position whose prediction has stopped moving and is sure is committed at once:
KL(p_t || p_{t-1}) < kl_threshold in each of the last `history_length` steps, and p > threshold.
If there is none, the schedule's number of surest positions is committed.

This is the rule of the LLaDA code, on both backbones: only steps of the current block count, and
p must be above the threshold. The Dream code differs in ways that are not followed: it has no
blocks, compares p >= threshold, and lets the temperature move the position of its fall-back. With
fewer steps than tokens the public code may leave masks or overwrite tokens; here every step commits
at least its share of the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..canvas import Canvas
from ..model.denoiser import Prediction, positionwise
from .commit import Choice, Propose, at_least
from .guidance import Guided
from .noise import Noise
from .options import Piece, option
from .schedules import Schedule

TINY = 1e-12


@dataclass(frozen=True)
class Stable(Piece):
    """Commit what is stable and sure."""

    schedule: Schedule
    confidence_threshold: float = option(0.9, "a stable position must be surer", low=0, high=1)
    kl_threshold: float = option(0.01, "a stable position moves less than this a step", low=0)
    history_length: int = option(2, "steps for which it must have been still", low=1)

    def start(self) -> RunningStable:
        return RunningStable(self)


@dataclass
class RunningStable:
    rule: Stable
    before: Prediction | None = None
    moved: Tensor | None = None  # (rows, length, history) KL of the last steps

    def __call__(self, canvas: Canvas, guided: Guided, propose: Propose, noise: Noise) -> Choice:
        proposal = propose(canvas.open)
        kl = self._movement(canvas, guided.given)
        past = (
            kl.new_zeros(*kl.shape, self.rule.history_length) if self.moved is None else self.moved
        )
        self.moved = torch.cat((past[..., 1:], kl[..., None]), dim=-1)
        self.before = guided.given if self.before is None else self.before.merged(guided.given)
        still = (self.moved < self.rule.kl_threshold).all(dim=-1)
        still &= (canvas.block_step >= self.rule.history_length - 1)[:, None]
        ready = still & (proposal.probability > self.rule.confidence_threshold)
        quota = self.rule.schedule(canvas).clamp(min=1)
        where = at_least(quota, ready, proposal, canvas)
        return Choice(where, proposal, {"movement": kl})

    def _movement(self, canvas: Canvas, now: Prediction) -> Tensor:
        """(rows, length) KL of this prediction from the one before, at the open positions."""
        fresh = canvas.step == 0

        def measure(row: Tensor, position: Tensor) -> tuple[Tensor]:
            p = now.logits(row, position).softmax(dim=1)
            q = torch.zeros_like(p)
            if self.before is not None:
                q = self.before.logits(row, position).softmax(dim=1)
                q[fresh[row]] = 0
            return ((p * ((p + TINY).log() - (q + TINY).log())).sum(dim=1),)

        (kl,) = positionwise(canvas.open, now.vocabulary, measure)
        return kl
