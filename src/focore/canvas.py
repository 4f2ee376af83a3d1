"""What is written, what is still masked, and which block each row is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .errors import OptionError

_NO_BLOCK = 1 << 30


@dataclass(frozen=True)
class Row:
    """One sequence to decode: its tokens with masks, the block of each position, its steps."""

    tokens: list[int]
    start: int  # where the answer begins
    blocks: list[int]  # per position; -1 where nothing is to be decided
    budget: list[int]  # steps of each block
    mask_id: int

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.blocks):
            raise ValueError("a block is needed for every token")


def continuation(
    prompt: Sequence[int],
    gen_length: int,
    block_length: int,
    steps: int,
    mask_id: int,
    fixed: Mapping[int, Sequence[int]],
) -> Row:
    """A prompt, and `gen_length` masks after it, some of them given by `fixed` (offset -> ids)."""
    answer = [mask_id] * gen_length
    for offset, ids in fixed.items():
        if offset < 0 or offset + len(ids) > gen_length:
            raise OptionError(
                f"fixed text of {len(ids)} tokens at offset {offset} is outside the answer "
                f"of {gen_length} tokens"
            )
        answer[offset : offset + len(ids)] = ids
    blocks = [-1] * len(prompt) + [offset // block_length for offset in range(gen_length)]
    return _row([*prompt, *answer], len(prompt), blocks, steps, mask_id)


def blanks(tokens: Sequence[int], block_length: int, steps: int | None, mask_id: int) -> Row:
    """A text with masks in it; every `block_length` masks, from left to right, make a block."""
    blocks, seen = [], 0
    for token in tokens:
        blocks.append(seen // block_length if token == mask_id else -1)
        seen += token == mask_id
    return _row(list(tokens), 0, blocks, steps or max(1, seen), mask_id)


def _row(tokens: list[int], start: int, blocks: list[int], steps: int, mask_id: int) -> Row:
    sizes = [0] * (max(blocks, default=-1) + 1)
    for token, block in zip(tokens, blocks, strict=True):
        if block >= 0:
            sizes[block] += token == mask_id
    return Row(tokens, start, blocks, share_steps(sizes, steps), mask_id)


def share_steps(sizes: Sequence[int], steps: int) -> list[int]:
    """Spread `steps` over blocks by the number of masks in each; no block to decode gets none."""
    needed = sum(size > 0 for size in sizes)
    if steps < needed:
        raise OptionError(
            f"steps={steps} is too few for {needed} blocks; "
            f"each needs at least one (raise steps or block_length)"
        )
    shares, left, masks = [], steps, sum(sizes)
    for size in sizes:
        needed -= size > 0
        share = min(-(-left * size // max(masks, 1)), left - needed) if size else 0
        shares.append(share)
        left, masks = left - share, masks - size
    return shares


@dataclass(frozen=True)
class Canvas:
    """The rows being decoded, side by side, padded on the right."""

    tokens: Tensor  # (rows, length)
    given: Tensor  # (rows, length) bool: prompt and fixed text
    valid: Tensor  # (rows, length) bool: not padding
    block: Tensor  # (rows, length) the block of each position, -1 for none
    budget: Tensor  # (rows, blocks) steps of each block
    start: Tensor  # (rows,) where the answer begins
    step: Tensor  # (rows,) steps taken
    block_step: Tensor  # (rows,) steps taken in the current block
    mask_id: int
    padded: bool  # whether any row is shorter than the canvas

    @classmethod
    def lay(cls, rows: Sequence[Row], device: torch.device) -> Canvas:
        """Lay rows side by side."""
        length = max(len(row.tokens) for row in rows)
        blocks = max(1, *(len(row.budget) for row in rows))

        def padded(lists: list[list[int]], width: int, fill: int) -> Tensor:
            filled = [items + [fill] * (width - len(items)) for items in lists]
            return torch.tensor(filled, dtype=torch.long, device=device)

        mask_id = rows[0].mask_id
        tokens = padded([row.tokens for row in rows], length, 0)
        lengths = torch.tensor([len(row.tokens) for row in rows], device=device)
        valid = torch.arange(length, device=device) < lengths[:, None]
        nothing = torch.zeros(len(rows), dtype=torch.long, device=device)
        return cls(
            tokens=tokens,
            given=valid & (tokens != mask_id),
            valid=valid,
            block=padded([row.blocks for row in rows], length, -1),
            budget=padded([row.budget for row in rows], blocks, 0),
            start=torch.tensor([row.start for row in rows], device=device),
            step=nothing,
            block_step=nothing,
            mask_id=mask_id,
            padded=any(len(row.tokens) < length for row in rows),
        )

    @property
    def rows(self) -> int:
        return self.tokens.shape[0]

    @cached_property
    def masked(self) -> Tensor:
        """(rows, length) bool: still to be decided."""
        return (self.tokens == self.mask_id) & self.valid

    @cached_property
    def written(self) -> Tensor:
        """(rows, length) bool: holds a real token."""
        return self.valid & ~self.masked

    @cached_property
    def current(self) -> Tensor:
        """(rows,) the first block with a mask; beyond all blocks for a finished row."""
        return torch.where(self.masked, self.block, _NO_BLOCK).amin(dim=1)

    @cached_property
    def in_block(self) -> Tensor:
        """(rows, length) bool: positions of the current block, masked or not."""
        return self.valid & (self.block == self.current[:, None])

    @cached_property
    def open(self) -> Tensor:
        """(rows, length) bool: the masks of the current block."""
        return self.masked & self.in_block

    @cached_property
    def steps_left(self) -> Tensor:
        """(rows,) steps left in the current block, this one included."""
        block = self.current.clamp(max=self.budget.shape[1] - 1)
        return self.budget.gather(1, block[:, None])[:, 0] - self.block_step

    def resize(self, length: int) -> Canvas:
        """The same rows with more padding, or less."""
        more = max(0, length - self.tokens.shape[1])
        longer: dict[str, Any] = {
            name: F.pad(getattr(self, name), (0, more), value=fill)[:, :length]
            for name, fill in (("tokens", 0), ("given", 0), ("valid", 0), ("block", -1))
        }
        return replace(self, **longer, padded=not bool(longer["valid"].all()))

    def join(self, canvases: Sequence[Canvas], sizes: Sequence[int]) -> Canvas:
        """The rows of several canvases of one length, this one the first."""
        blocks = max(canvas.budget.shape[1] for canvas in canvases)
        budgets = [F.pad(c.budget, (0, blocks - c.budget.shape[1])) for c in canvases]
        names = ("tokens", "given", "valid", "block", "start", "step", "block_step")
        joined: dict[str, Any] = {
            name: torch.cat([getattr(canvas, name) for canvas in canvases]) for name in names
        }
        padded = any(canvas.padded for canvas in canvases)
        return replace(self, **joined, budget=torch.cat(budgets), padded=padded)

    def write(self, tokens: Tensor) -> Canvas:
        """The canvas after a step that left these tokens (rows, length)."""
        after = replace(self, tokens=tokens, step=self.step + 1)
        same = after.current == self.current
        return replace(after, block_step=torch.where(same, self.block_step + 1, 0))


def ranks(score: Tensor, among: Tensor) -> Tensor:
    """The place of each position by descending score, ties to the smaller index; others follow."""
    lowest = torch.finfo(score.dtype).min
    score = torch.where(among, score.clamp(min=lowest), -torch.inf)
    order = score.sort(dim=1, descending=True, stable=True).indices
    rank = torch.empty_like(order)
    places = torch.arange(order.shape[1], device=order.device).expand_as(order)
    return rank.scatter_(1, order, places)


def highest(score: Tensor, count: Tensor, among: Tensor) -> Tensor:
    """The `count` (rows,) positions of highest score in each row, as bool."""
    return (ranks(score, among) < count[:, None]) & among
