"""The one decoding loop: a batch that takes step after step and knows no method by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from ..canvas import Canvas
from ..errors import DecodingError
from ..model.cache import Passes
from ..model.denoiser import Prediction
from ..rows import join, resize, take
from .guidance import Notes
from .noise import Noise
from .policy import Policy


@dataclass(frozen=True)
class Step:
    """One write to the canvas. Rows leave the batch when they are done."""

    row: Tensor  # (rows,) the name of each
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
class Counted:
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


@dataclass(frozen=True)
class State:
    """All that is known of the rows under way."""

    canvas: Canvas
    running: Any  # the method's memory
    passes: Passes
    noise: Noise
    row: Tensor  # (rows,) the name of each


class Batch:
    """Rows decoded side by side; rows join between steps and leave when they are done."""

    def __init__(self, passes: Callable[[], Passes], policy: Policy, stop: Stop | None = None):
        self._passes, self._policy, self._stop = passes, policy, stop
        self._state: State | None = None

    def __len__(self) -> int:
        return 0 if self._state is None else len(self._state.row)

    @torch.inference_mode()
    def admit(self, canvas: Canvas, noise: Noise, row: Tensor) -> None:
        """Let rows join; one without a mask does not."""
        state = State(canvas, self._policy.start(), self._passes(), noise, row)
        begun = canvas.masked.any(dim=1).nonzero()[:, 0]
        if not len(begun):
            return
        state = state if len(begun) == len(row) else take(state, begun)
        if self._state is not None:
            states = [self._state, state]
            length = max(each.canvas.tokens.shape[1] for each in states)
            states = [resize(each, length) for each in states]
            state = join(states, [len(each.row) for each in states])
        self._state = state

    @torch.inference_mode()
    def drop(self, names: Sequence[int]) -> None:
        """Let the rows of these names go before they are done."""
        if self._state is not None and names:
            row = self._state.row
            gone = torch.isin(row, torch.tensor(names, device=row.device))
            self._keep(self._state, ~gone)

    @torch.inference_mode()
    def step(self) -> Step:
        """Decode one step of every row."""
        state = self._state
        assert state is not None
        canvas, denoise = state.canvas, Counted(state.passes, state.canvas)
        decision = state.running(canvas, denoise, state.noise)
        tokens = decision.tokens if self._stop is None else self._stop(canvas, decision.tokens)
        after = canvas.write(tokens)
        going = after.masked.any(dim=1)
        self._keep(replace(state, canvas=after), going)
        committed = decision.committed | (tokens != decision.tokens)
        return Step(
            state.row, tokens, committed, decision.confidence, denoise.count, ~going, decision.notes
        )

    def _keep(self, state: State, going: Tensor) -> None:
        """Go on with the rows that are not done."""
        rest = going.nonzero()[:, 0]
        if len(rest) == len(state.row):
            self._state = state
        elif len(rest):
            state = take(state, rest)
            self._state = resize(state, max(state.noise.lengths))
        else:
            self._state = None
        if len(rest):
            _require_progress(state.canvas)


def _require_progress(canvas: Canvas) -> None:
    stuck = canvas.step >= canvas.budget.sum(dim=1)
    if bool(stuck.any()):
        raise DecodingError(
            f"row {int(stuck.nonzero()[0, 0])} still has masks after its last step; "
            "the method commits less than its schedule asks for"
        )
