"""A contrast that spares its second pass where that can hardly change the step; not in the paper.

A step is sure of itself when every position that it would commit without the contrast is surer than
a bound: the contrast weighs the best token against the others by w = 0.3 of a difference of logits,
and what leads clearly goes on leading. Each row decides for itself, from its first pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..canvas import Canvas, highest
from ..model.denoiser import Prediction
from .noise import Noise
from .options import Piece, option
from .sampler import Sampler
from .schedules import Schedule


@dataclass(frozen=True)
class Sparing(Piece):
    """Spare the second pass in a step whose positions are all surer than the bound.

    Judged at temperature 0, which draws nothing from the row's generator.
    """

    sampler: Sampler
    most: Schedule  # how many positions a step may commit
    contrast: str = option(
        "always",
        "when the second pass is taken; auto: not in a sure step",
        choices=("always", "auto"),
    )
    contrast_bound: float = option(
        0.9, "auto: a sure step commits only positions surer than this", low=0, high=1
    )

    def __call__(self, canvas: Canvas, given: Prediction, noise: Noise) -> Tensor:
        """(rows,) bool: the step is sure without a contrast."""
        proposal = self.sampler.propose(given, canvas.open, noise)
        first = highest(proposal.score, self.most(canvas), canvas.open)
        return (~first | (proposal.probability > self.contrast_bound)).all(dim=1)
