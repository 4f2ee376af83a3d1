"""A-CFG, adaptive classifier-free guidance (arXiv 2505.20199).

The generated tokens that the model is least sure of are hidden in the second pass; the prompt
stays. No official code is public: the rule follows the paper's abstract and a third-party
implementation. A token's confidence is the largest probability that the model gives at its
position, not that of the token there. Positions that a cached pass did not predict keep theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..canvas import Canvas, highest
from ..model.denoiser import Prediction, positionwise
from .guidance import Notes
from .noise import Noise
from .options import Piece, option


@dataclass(frozen=True)
class Unsure(Piece):
    """Hide the floor(ratio x n) least sure of n generated tokens, at least one."""

    remask_ratio: float = option(0.3, "share of the generated tokens to hide", low=0, high=1)

    def start(self) -> RunningUnsure:
        return RunningUnsure(self.remask_ratio)


@dataclass
class RunningUnsure:
    ratio: float
    confidence: Tensor | None = None  # (rows, length)

    def __call__(self, canvas: Canvas, given: Prediction, noise: Noise) -> tuple[Tensor, Notes]:
        generated = canvas.written & ~canvas.given

        def measure(row: Tensor, position: Tensor) -> tuple[Tensor]:
            logits = given.logits(row, position)
            return ((logits.amax(dim=1) - logits.logsumexp(dim=1)).exp(),)

        known = generated & given.known
        (confidence,) = positionwise(known, given.vocabulary, measure)
        if self.confidence is not None:
            confidence = torch.where(known, confidence, self.confidence)
        self.confidence = confidence
        total = generated.sum(dim=1)
        count = (total * self.ratio).floor().long().clamp(min=1).minimum(total)
        return highest(-confidence, count, generated), {}
