"""Passes with and without memory of keys and values, behind one call.

With a cache the first pass of each block is a full one. Later passes of the block feed only the
block (`dual`), or the block and everything after it (`prefix`), and take the keys and values of all
other positions from memory, as Fast-dLLM does (arXiv 2505.22618). A position outside that range
whose token differs from what memory has seen, because a contrast hides it or shows it again, is fed
along and replaced. Each view has a memory of its own. Dream needs the output at i - 1 for the token
at i, so the position before the block is fed too, and no first token has to be committed blindly.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import torch
from torch import Tensor

from ..canvas import Canvas
from ..errors import OptionError
from ..rows import take
from .denoiser import Denoiser, KeyValues, Prediction
from .transformer import Native


class Passes(Protocol):
    """A denoiser as the loop sees it."""

    def __call__(self, canvas: Canvas, tokens: Tensor, view: str, rows: Tensor) -> Prediction:
        """Predict tokens (n, length) that stand for these rows (n,) of the canvas."""
        ...


def check_cache(denoiser: Denoiser, cache: str) -> None:
    """An `OptionError` for a kind of cache that this denoiser cannot have."""
    if cache != "none" and not isinstance(denoiser, Native):
        raise OptionError(f"cache={cache!r} needs a LLaDA or Dream checkpoint; use cache='none'")


def make_passes(denoiser: Denoiser, cache: str) -> Passes:
    """The passes of a run with this kind of cache."""
    if cache == "none":
        return Uncached(denoiser)
    assert isinstance(denoiser, Native)  # by `check_cache`
    return Cached(denoiser, cache)


class Uncached:
    """Every pass is a full one; nothing is kept of any row."""

    def __init__(self, denoiser: Denoiser):
        self._denoiser = denoiser

    def __call__(self, canvas: Canvas, tokens: Tensor, view: str, rows: Tensor) -> Prediction:
        return self._denoiser.predict(tokens, _keys(canvas, rows))


@dataclass
class View:
    """What memory holds of one view: a row for each row of the canvas."""

    layers: list[KeyValues]
    seen: Tensor  # (rows, length) the tokens behind the keys and values
    block: Tensor  # (rows,) the block of the last full pass, counted from 1; 0 for none


@dataclass
class Cached:
    """Full passes where a block begins, partial ones within it."""

    denoiser: Native
    kind: str
    views: dict[str, View] = field(default_factory=dict)

    def __call__(self, canvas: Canvas, tokens: Tensor, view: str, rows: Tensor) -> Prediction:
        if view not in self.views:
            self.views[view] = self._empty(canvas)
        begins = self.views[view].block[rows] != canvas.current[rows] + 1
        full, part = begins.nonzero()[:, 0], (~begins).nonzero()[:, 0]
        if not len(part):
            return self._full(canvas, tokens, view, rows)
        if not len(full):
            return self._partial(canvas, tokens, view, rows)
        first = self._full(canvas, tokens[full], view, rows[full])
        second = self._partial(canvas, tokens[part], view, rows[part])
        return second.beside(first, part, full)

    def _empty(self, canvas: Canvas) -> View:
        config, (rows, length) = self.denoiser.config, canvas.tokens.shape
        device, dtype = self.denoiser.device, self.denoiser.dtype
        shape = (rows, config.kv_heads, length, config.head_width)
        layers = [
            KeyValues(
                torch.zeros(shape, device=device, dtype=dtype),
                torch.zeros(shape, device=device, dtype=dtype),
            )
            for _ in range(config.layers)
        ]
        return View(layers, torch.full_like(canvas.tokens, -1), torch.zeros_like(canvas.start))

    def _full(self, canvas: Canvas, tokens: Tensor, view: str, rows: Tensor) -> Prediction:
        memory = self.views[view]
        fresh = [KeyValues() for _ in memory.layers]
        prediction = self.denoiser.predict(tokens, _keys(canvas, rows), fresh)
        for kept, new in zip(memory.layers, fresh, strict=True):
            kept.replace(rows, new)
        memory.seen[rows] = tokens
        memory.block[rows] = canvas.current[rows] + 1
        return prediction

    def _partial(self, canvas: Canvas, tokens: Tensor, view: str, rows: Tensor) -> Prediction:
        memory = self.views[view]
        fed = self._fed(canvas, tokens, memory, rows)
        everyone = len(rows) == canvas.rows
        layers = memory.layers if everyone else take(memory.layers, rows)
        layers = [replace(layer, fed=fed) for layer in layers]
        prediction = self.denoiser.predict_some(tokens, _keys(canvas, rows), fed, layers)
        if not everyone:
            for kept, new in zip(memory.layers, layers, strict=True):
                kept.replace(rows, new)
        memory.seen[rows] = tokens
        return prediction

    def _fed(self, canvas: Canvas, tokens: Tensor, memory: View, rows: Tensor) -> Tensor:
        """(n, fed) positions to feed; shorter rows repeat their last one, which changes nothing."""
        block = take(canvas.in_block, rows)
        if self.kind == "prefix":
            block = (block.long().cumsum(dim=1) > 0) & canvas.valid[rows]
        where = self.denoiser.needed(block) | (tokens != memory.seen[rows])
        count = where.sum(dim=1, keepdim=True)
        order = where.long().sort(dim=1, descending=True, stable=True).indices
        place = torch.arange(int(count.max()), device=tokens.device)
        return order.gather(1, place.minimum(count - 1))


def _keys(canvas: Canvas, rows: Tensor) -> Tensor | None:
    """Which keys may be attended to; None without padding."""
    return canvas.valid[rows] if canvas.padded else None
