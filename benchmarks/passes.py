"""The bare passes of a run: the same canvases, the head on the same positions, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

import focore
from focore.model.denoiser import Prediction
from focore.model.head import Top
from focore.model.transformer import Native


@dataclass
class Passes:
    """What a run asked the model for."""

    denoiser: Native
    canvases: list[Tensor] = field(default_factory=list)
    asked: list[list[tuple[Tensor, Tensor]]] = field(default_factory=list)  # (row, position)

    @torch.inference_mode()
    def replay(self) -> None:
        """Run them again."""
        for canvas, asked in zip(self.canvases, self.asked, strict=True):
            hidden = self.denoiser.transformer(canvas)
            for row, position in asked:
                self.denoiser.head(hidden[row, position])


def recorded(model: focore.Model, call: Callable[[], object]) -> Passes:
    """Run `call` and keep what it asked the model for."""
    denoiser = model.denoiser
    assert isinstance(denoiser, Native)
    found = Passes(denoiser)
    predict, logits, top = denoiser.predict, Prediction.logits, Prediction.top
    known: dict[int, int] = {}

    def spy_predict(tokens: Tensor, valid: Tensor | None, memories: object = None) -> Prediction:
        found.canvases.append(tokens.clone())
        found.asked.append([])
        made = predict(tokens, valid)
        known[made.hidden.data_ptr()] = len(found.asked) - 1
        return made

    def note(asked: Prediction, row: Tensor, position: Tensor) -> None:
        place = known.get(asked.hidden.data_ptr(), len(found.asked) - 1)
        found.asked[place].append((row, position))

    def spy_logits(self: Prediction, row: Tensor, position: Tensor) -> Tensor:
        note(self, row, position)
        return logits(self, row, position)

    def spy_top(self: Prediction, row: Tensor, position: Tensor, k: int) -> Top:
        note(self, row, position)
        return top(self, row, position, k)

    denoiser.predict = spy_predict  # type: ignore[method-assign, assignment]
    Prediction.logits, Prediction.top = spy_logits, spy_top  # type: ignore[method-assign]
    try:
        call()
    finally:
        del denoiser.predict
        Prediction.logits, Prediction.top = logits, top  # type: ignore[method-assign]
    return found
