"""A model: a denoiser and, if the checkpoint has one, its tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from .errors import OptionError
from .model.checkpoint import commit_of, load_denoiser, locate
from .model.denoiser import Denoiser, widen
from .model.memory import keep_freed_memory
from .model.transformer import Native
from .text import Text, load_text


@dataclass(frozen=True)
class Model:
    """What `load` gives: ready to decode."""

    name: str
    denoiser: Denoiser
    text: Text | None
    folder: Path | None = None  # of its files, if it has any

    @property
    def mask_id(self) -> int:
        return self.denoiser.mask_id

    @property
    def end_ids(self) -> tuple[int, ...]:
        """The tokens that end an answer."""
        return self.denoiser.end_ids if self.text is None else self.text.end_ids

    @property
    def revision(self) -> str | None:
        """The commit of a checkpoint from the Hub."""
        return None if self.folder is None else commit_of(self.folder)

    @torch.inference_mode()
    def logits(self, ids: Tensor | list[list[int]]) -> Tensor:
        """(rows, length, vocabulary) in float32 at least, position i scoring the token at i."""
        tokens = torch.as_tensor(ids, device=self.denoiser.device)
        if tokens.dim() != 2:
            raise OptionError(f"ids of shape {tuple(tokens.shape)}; expected (rows, length)")
        prediction = self.denoiser.predict(tokens, None)
        row, position = torch.ones_like(tokens, dtype=torch.bool).nonzero(as_tuple=True)
        return widen(prediction.logits(row, position)).view(*tokens.shape, -1)


def load(
    source: str | Path,
    *,
    dtype: str = "auto",
    device: str | torch.device = "auto",
    revision: str | None = None,
) -> Model:
    """Load the shipped model (`"tiny"`), a checkpoint folder, or a Hub id."""
    folder = locate(source, revision)
    denoiser = load_denoiser(folder, dtype, device)
    if denoiser.device.type == "cpu":
        keep_freed_memory()
    text = load_text(
        folder, str(source), denoiser.mask_id, denoiser.end_ids, isinstance(denoiser, Native)
    )
    return Model(str(source), denoiser, text, folder)
