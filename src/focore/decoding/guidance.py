"""Which logits: plain ones, or a contrast with a second pass that may not see everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from ..canvas import Canvas
from ..model.denoiser import Prediction
from .noise import Noise
from .options import Piece, option

Notes = Mapping[str, Tensor]  # (rows,) or (rows, length) tensors that later pieces may read


class Denoise(Protocol):
    """A pass over tokens (n, length), for the rows named (all of them if None)."""

    def __call__(
        self, tokens: Tensor, view: str = "given", rows: Tensor | None = None
    ) -> Prediction: ...


@dataclass(frozen=True)
class Guided:
    """The logits to decode from, computed where they are asked for."""

    given: Prediction
    hidden: Prediction | None = None
    scale: float = 0.0
    notes: Notes = field(default_factory=dict)

    @property
    def vocabulary(self) -> int:
        return self.given.vocabulary

    def logits(self, row: Tensor, position: Tensor) -> Tensor:
        """given + scale (given - hidden)."""
        logits = self.given.logits(row, position)
        if self.hidden is None:
            return logits
        # A token impossible in both passes stays so: -inf - -inf would be no number.
        lowest = torch.finfo(logits.dtype).min / 8
        other = self.hidden.logits(row, position).clamp_(min=lowest)
        logits.clamp_(min=lowest)
        return logits.add_(torch.sub(logits, other, out=other), alpha=self.scale)


class Guidance(Protocol):
    """A piece whose running form gives the logits of a step."""

    def start(self) -> Any: ...


@dataclass(frozen=True)
class Plain:
    """The model's own logits: one pass."""

    def start(self) -> Plain:
        return self

    def __call__(self, canvas: Canvas, denoise: Denoise, noise: Noise) -> Guided:
        return Guided(denoise(canvas.tokens))


class Hide(Protocol):
    """A piece whose running form says which written positions the second pass may not see.

    The running form is called with the canvas, the first pass and the noise, and returns
    (rows, length) bool and notes.
    """

    def start(self) -> Any: ...


class Spare(Protocol):
    """(rows,) bool: which rows may go without the second pass, judged by the first."""

    def __call__(self, canvas: Canvas, given: Prediction, noise: Noise) -> Tensor: ...


@dataclass(frozen=True)
class Contrast(Piece):
    """l = l_given + w (l_given - l_hidden), the second pass with [MASK] where `hide` says.

    Classifier-free guidance, Ho & Salimans, arXiv 2207.12598, in the form of LLaDA's code:
    l_u + (w + 1)(l_c - l_u). Without anything to hide, or at w = 0, there is no second pass, nor
    in the rows that `spare` names.
    """

    hide: Hide
    spare: Spare | None = None
    guidance_scale: float = option(0.3, "w, the weight of the contrast", low=0)

    def start(self) -> RunningContrast:
        return RunningContrast(self.hide.start(), self.spare, self.guidance_scale)


@dataclass
class RunningContrast:
    hide: Any
    spare: Spare | None
    scale: float

    def __call__(self, canvas: Canvas, denoise: Denoise, noise: Noise) -> Guided:
        given = denoise(canvas.tokens)
        hide, notes = self.hide(canvas, given, noise)
        if self.spare is not None and self.scale:
            hide = hide & ~self.spare(canvas, given, noise)[:, None]
        notes = {**notes, "hidden": hide}
        rows = hide.any(dim=1).nonzero()[:, 0]
        if not self.scale or not len(rows):
            return Guided(given, notes=notes)
        tokens = canvas.tokens.masked_fill(hide, canvas.mask_id)
        if len(rows) == canvas.rows:
            return Guided(given, denoise(tokens, "hidden"), self.scale, notes)
        hidden = denoise(tokens[rows], "hidden", rows).spread(rows, given)
        return Guided(given, hidden, self.scale, notes)


@dataclass(frozen=True)
class GivenText:
    """Hide the prompt and all other given text: standard classifier-free guidance."""

    def start(self) -> GivenText:
        return self

    def __call__(self, canvas: Canvas, given: Prediction, noise: Noise) -> tuple[Tensor, Notes]:
        return canvas.given, {}
