"""The one contract between models and decoding: tokens in, lazy predictions out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from .head import Head, Top, room, top_of


@dataclass(frozen=True)
class Prediction:
    """What a pass says of each position; the head is applied where it is asked for."""

    hidden: Tensor  # (rows, length, width), position i scoring the token at i
    known: Tensor  # (rows, length) bool: positions that this pass predicted
    head: Head | None  # None if `hidden` already holds logits

    @property
    def vocabulary(self) -> int:
        return self.hidden.shape[-1] if self.head is None else self.head.weight.shape[0]

    def logits(self, row: Tensor, position: Tensor) -> Tensor:
        """Logits (n, vocabulary) at n positions, in float32 at least."""
        hidden = self.hidden[row, position]
        return widen(hidden if self.head is None else self.head(hidden))

    def logits_of(self, row: Tensor, position: Tensor, tokens: Tensor) -> Tensor:
        """Logits (n, k) of the given tokens (n, k) only."""
        hidden = self.hidden[row, position]
        return widen(
            hidden.gather(-1, tokens) if self.head is None else self.head.of(hidden, tokens)
        )

    def top(self, row: Tensor, position: Tensor, k: int) -> Top:
        """The `k` largest logits at n positions, in no order, and their normalisers."""
        hidden = self.hidden[row, position]
        if self.head is None or hidden.dtype.itemsize < 4:
            return top_of(self.logits(row, position), k)
        return self.head.top(hidden, k)

    def merged(self, newer: Prediction) -> Prediction:
        """This prediction with the positions that `newer` predicted replaced."""
        if bool(newer.known.all()):
            return newer
        hidden = torch.where(newer.known[..., None], newer.hidden, self.hidden)
        return replace(newer, hidden=hidden, known=self.known | newer.known)

    def beside(self, other: Prediction, mine: Tensor, theirs: Tensor) -> Prediction:
        """One prediction of this one's rows and those of another, at the places named."""
        back = torch.cat((mine, theirs)).argsort()
        hidden = torch.cat((self.hidden, other.hidden))[back]
        return replace(self, hidden=hidden, known=torch.cat((self.known, other.known))[back])

    def spread(self, rows: Tensor, rest: Prediction) -> Prediction:
        """This prediction for the rows named, and `rest` for all others."""
        return replace(
            rest,
            hidden=rest.hidden.index_copy(0, rows, self.hidden),
            known=rest.known.index_copy(0, rows, self.known),
        )


class Denoiser(Protocol):
    """A masked language model that predicts every position of its input at once."""

    mask_id: int
    end_ids: tuple[int, ...]
    vocabulary: int
    max_length: int
    own_top_k: int | None  # the cut of the model's own generation code

    @property
    def device(self) -> torch.device: ...

    @property
    def dtype(self) -> torch.dtype: ...

    def predict(self, tokens: Tensor, valid: Tensor | None) -> Prediction:
        """A full pass over tokens (rows, length); `valid` marks what is not padding."""
        ...


@dataclass
class KeyValues:
    """Keys and values of one layer, written at the positions that a pass feeds."""

    keys: Tensor | None = None  # (rows, heads, length, head width), after rotation
    values: Tensor | None = None
    fed: Tensor | None = None  # (rows, n) positions of the pass under way; None for all

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        if self.fed is None or self.keys is None or self.values is None:
            self.keys, self.values = keys, values
        else:
            where = self.fed[:, None, :, None].expand_as(keys)
            self.keys.scatter_(2, where, keys)
            self.values.scatter_(2, where, values)
        return self.keys, self.values

    def resize(self, length: int) -> KeyValues:
        """The same with more positions, or fewer."""
        assert self.keys is not None and self.values is not None
        more = (0, 0, 0, max(0, length - self.keys.shape[2]))
        return KeyValues(
            F.pad(self.keys, more)[:, :, :length], F.pad(self.values, more)[:, :, :length]
        )

    def replace(self, rows: Tensor, newer: KeyValues) -> None:
        """Take over what `newer` holds, as these rows."""
        assert self.keys is not None and self.values is not None
        assert newer.keys is not None and newer.values is not None
        self.keys[rows], self.values[rows] = newer.keys, newer.values


def widen(x: Tensor) -> Tensor:
    """x in float32 at least."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def positionwise(
    where: Tensor, vocabulary: int, measure: Callable[[Tensor, Tensor], tuple[Tensor, ...]]
) -> tuple[Tensor, ...]:
    """`measure(row, position)` at the True positions of `where`, a bounded number at a time.

    Each result of `measure` has one entry per position; they come back as (rows, length)
    tensors with zeros elsewhere.
    """
    row, position = where.nonzero(as_tuple=True)
    size = max(1, room(where.device) // vocabulary)
    pieces = [
        measure(r, p)
        for r, p in zip(torch.split(row, size), torch.split(position, size), strict=True)
    ]
    results = []
    for values in zip(*pieces, strict=True):
        joined = torch.cat(values)
        spread = joined.new_zeros(where.shape)
        spread[row, position] = joined
        results.append(spread)
    return tuple(results)
