"""The head: scores of the vocabulary, where they are asked for and no larger than they must be."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK = 1 << 23  # elements of the largest tensor with a vocabulary or gathered-head axis
TILE = 1024  # rows of the head that a CPU multiplies at a time: they and their logits stay cached
WIDTH = 16  # positions are multiplied in multiples of this, or at two thirds of the speed
GROUP = 32  # neighbouring tokens that stand or fall together in a search for the top ones


def room(device: torch.device) -> int:
    """Elements that such a tensor may have.

    An accelerator reads the whole head for every chunk of positions, in more time than a small
    chunk takes to multiply, and has the memory for a larger one.
    """
    return CHUNK if device.type == "cpu" else 8 * CHUNK


class Top(NamedTuple):
    """The largest logits at n positions, in no order."""

    values: Tensor  # (n, k)
    tokens: Tensor  # (n, k)
    log_total: Tensor  # (n,) log-sum-exp over the whole vocabulary


def top_of(logits: Tensor, k: int) -> Top:
    """The `k` largest of whole logits (n, vocabulary)."""
    values, tokens = logits.topk(k, dim=1, sorted=False)
    return Top(values, tokens, logits.logsumexp(dim=1))


def best_of(logits: Tensor) -> Tensor:
    """The token (n,) of the largest of whole logits (n, vocabulary), the first of equals.

    On a CPU the largest of a group is found many times faster than the place of a largest.
    """
    n, vocabulary = logits.shape
    if logits.device.type != "cpu" or vocabulary < 4 * TILE or vocabulary % GROUP:
        return logits.argmax(dim=1)
    groups = logits.view(n, vocabulary // GROUP, GROUP)
    group = groups.amax(dim=2).argmax(dim=1)
    return group * GROUP + groups[torch.arange(n), group].argmax(dim=1)


class Head:
    """Scores the vocabulary; belongs to all rows."""

    def __init__(self, weight: Tensor):
        self.weight = weight  # (vocabulary, width)

    @property
    def _on_cpu(self) -> bool:
        weight = self.weight
        return weight.device.type == "cpu" and weight.dtype in (torch.float32, torch.float64)

    def _tiled(self, hidden: Tensor) -> bool:
        """Whether tiles are faster: the head outgrows the cache, and is read for several rows."""
        return self._on_cpu and len(self.weight) >= 4 * TILE and len(hidden) > 4

    def __call__(self, hidden: Tensor) -> Tensor:
        """Logits (n, vocabulary) of hidden states (n, width)."""
        if not self._tiled(hidden):
            return F.linear(hidden, self.weight)
        logits = hidden.new_empty(len(hidden), len(self.weight))
        for begin, tile in self.tiles(hidden):
            logits[:, begin : begin + TILE] = tile.T
        return logits

    def tiles(self, hidden: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Logits (tokens, n) of one stretch of the vocabulary after the other, and its begin."""
        turned = F.pad(hidden, (0, 0, 0, -len(hidden) % WIDTH)).T.contiguous()
        for begin in range(0, len(self.weight), TILE):
            tile = self.weight[begin : begin + TILE] @ turned
            yield begin, tile[:, : len(hidden)]

    def top(self, hidden: Tensor, k: int) -> Top:
        """The `k` largest logits of each hidden state, with their normaliser.

        The largest k lie in the k groups of largest maximum. Maxima and sums are taken of a tile
        while it is in the cache.
        """
        vocabulary = len(self.weight)
        if not self._tiled(hidden) or vocabulary % GROUP or vocabulary < 4 * GROUP * k:
            return top_of(self(hidden), k)
        logits = hidden.new_empty(len(hidden), vocabulary // GROUP, GROUP)
        maxima, highest, totals = [], [], []
        for begin, tile in self.tiles(hidden):
            logits.view(len(hidden), -1)[:, begin : begin + TILE] = tile.T
            maxima.append(torch.unflatten(tile, 0, (-1, GROUP)).amax(dim=1))
            highest.append(maxima[-1].amax(dim=0))
            totals.append(tile.sub_(highest[-1]).exp_().sum(dim=0))
        group = torch.cat(maxima).T.topk(k, dim=1, sorted=False).indices
        among = logits.gather(1, group[..., None].expand(-1, -1, GROUP)).flatten(1)
        values, place = among.topk(k, dim=1, sorted=False)
        tokens = group.gather(1, place // GROUP) * GROUP + place % GROUP
        log_total = (torch.stack(highest) + torch.stack(totals).log()).logsumexp(dim=0)
        return Top(values, tokens, log_total)

    def of(self, hidden: Tensor, tokens: Tensor) -> Tensor:
        """Logits (n, k) of the given tokens (n, k) only."""
        if self._on_cpu:
            return _sampled_product(hidden, self.weight, tokens)
        size = max(1, room(hidden.device) // max(1, tokens.shape[-1] * hidden.shape[-1]))
        parts = [
            torch.bmm(self.weight[ids], some[:, :, None])[..., 0]
            for some, ids in zip(torch.split(hidden, size), torch.split(tokens, size), strict=True)
        ]
        return torch.cat(parts)


def _sampled_product(hidden: Tensor, weight: Tensor, tokens: Tensor) -> Tensor:
    """The entries (n, k) of hidden x weight^T at the columns `tokens` (n, k).

    On a CPU a sampled product takes a quarter of the time of gathering the rows, and no copy.
    """
    n, k = tokens.shape
    starts = torch.arange(0, n * k + 1, k)
    entries = (starts, tokens.flatten(), hidden.new_zeros(n * k), (n, weight.shape[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # sparse layouts are in beta
        # Columns in no order, which the product does not ask for: sorting takes as long.
        wanted = torch.sparse_csr_tensor(*entries, check_invariants=False)
        found = torch.sparse.sampled_addmm(wanted, hidden, weight.T, beta=0.0).values()
    values: Tensor = found.view(n, k)
    return values
