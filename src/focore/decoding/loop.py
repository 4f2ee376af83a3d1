"""The one decoding loop: a generator of steps that knows no method by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..canvas import Canvas
from ..errors import DecodingError
from ..model.cache import Passes
from ..model.denoiser import Prediction
from ..rows import take
from .guidance import Notes
from .noise import Noise
from .policy import Policy


@dataclass(frozen=True)
class Step:
    """One write to the canvas. Rows leave the batch when they are done."""

    row: Tensor  # (rows,) which of the rows at the start each one is
    tokens: Tensor  # (rows, length) after the write
    committed: Tensor  # (rows, length) bool
    confidence: Tensor  # (rows, length) of the tokens proposed, 0 where none was
    passes: Tensor  # (rows,) forward passes of this step
    done: Tensor  # (rows,) bool: the row's last step
    notes: Notes


@dataclass(frozen=True)
class Stop:
    """End a row early, once an end token and all before it are fixed; the rest becomes `fill`."""

    ends: tuple[int, ...]
    fill: int

    def __call__(self, canvas: Canvas, tokens: Tensor) -> Tensor:
        answer = canvas.block >= 0
        ended = answer & torch.isin(tokens, torch.tensor(self.ends, device=tokens.device))
        masked = (tokens == canvas.mask_id) & canvas.valid
        clear = masked.long().cumsum(dim=1) == 0
        stop = (ended & clear).any(dim=1, keepdim=True)
        return torch.where(stop & masked, self.fill, tokens)


@dataclass
class Counter:
    """Passes bound to a canvas, counted for each of its rows."""

    passes: Passes
    canvas: Canvas
    count: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.count = torch.zeros_like(self.canvas.step)
        self.everyone = torch.arange(self.canvas.rows, device=self.count.device)

    def __call__(
        self, tokens: Tensor, view: str = "given", rows: Tensor | None = None
    ) -> Prediction:
        rows = self.everyone if rows is None else rows
        self.count.index_add_(0, rows, torch.ones_like(rows))
        return self.passes(self.canvas, tokens, view, rows)


@torch.inference_mode()
def decode(
    passes: Passes, canvas: Canvas, policy: Policy, noise: Noise, stop: Stop | None = None
) -> Iterator[Step]:
    """Decode a canvas, one step at a time, until no row has a mask."""
    running = policy.start()
    row = torch.arange(canvas.rows, device=canvas.tokens.device)
    state = take((canvas, running, passes, noise, row), row[canvas.masked.any(dim=1)])
    while len(state[-1]):
        canvas, running, passes, noise, row = state
        denoise = Counter(passes, canvas)
        decision = running(canvas, denoise, noise)
        tokens = decision.tokens if stop is None else stop(canvas, decision.tokens)
        after = canvas.write(tokens)
        going = after.masked.any(dim=1)
        yield Step(
            row,
            tokens,
            decision.committed | (tokens != decision.tokens),
            decision.confidence,
            denoise.count,
            ~going,
            decision.notes,
        )
        _require_progress(after, going)
        rest = going.nonzero()[:, 0]
        if not len(rest):
            return
        state = (after, running, passes, noise, row)
        if len(rest) < len(row):
            state = take(state, rest)


def _require_progress(canvas: Canvas, going: Tensor) -> None:
    stuck = going & (canvas.step >= canvas.budget.sum(dim=1))
    if bool(stuck.any()):
        raise DecodingError(
            f"row {int(stuck.nonzero()[0, 0])} still has masks after its last step; "
            "the method commits less than its schedule asks for"
        )
