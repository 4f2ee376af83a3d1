"""The bare passes of a run: the same canvases, the head on the same positions, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

import focore
from focore.model.denoiser import Prediction
from focore.model.transformer import Native, Transformer


@dataclass
class Passes:
    """What a run asked the model for."""

    canvases: list[Tensor] = field(default_factory=list)
    asked: list[list[tuple[Tensor, Tensor]]] = field(default_factory=list)  # (row, position)

    @torch.inference_mode()
    def replay(self, model: Transformer) -> None:
        """Run them again."""
        for canvas, asked in zip(self.canvases, self.asked, strict=True):
            hidden = model(canvas)
            for row, position in asked:
                model.head(hidden[row, position])


def recorded(model: focore.Model, call: Callable[[], object]) -> Passes:
    """Run `call` and keep what it asked the model for."""
    found, denoiser = Passes(), model.denoiser
    assert isinstance(denoiser, Native)
    predict, logits = denoiser.predict, Prediction.logits
    known: dict[int, int] = {}

    def spy_predict(tokens: Tensor, valid: Tensor | None, memories: object = None) -> Prediction:
        found.canvases.append(tokens.clone())
        found.asked.append([])
        made = predict(tokens, valid)
        known[made.hidden.data_ptr()] = len(found.asked) - 1
        return made

    def spy_logits(self: Prediction, row: Tensor, position: Tensor) -> Tensor:
        place = known.get(self.hidden.data_ptr(), len(found.asked) - 1)
        found.asked[place].append((row, position))
        return logits(self, row, position)

    denoiser.predict = spy_predict  # type: ignore[method-assign, assignment]
    Prediction.logits = spy_logits  # type: ignore[method-assign]
    try:
        call()
    finally:
        del denoiser.predict
        Prediction.logits = logits  # type: ignore[method-assign]
    return found
