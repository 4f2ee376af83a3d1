"""Randomness that belongs to a row: the same alone and in any batch."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Noise:
    """One generator per row, and the length of the row it draws for."""

    generators: list[torch.Generator]
    lengths: list[int]

    @classmethod
    def seeded(cls, seeds: Sequence[int], lengths: Sequence[int], device: torch.device) -> Noise:
        made = [torch.Generator(device).manual_seed(seed) for seed in seeds]
        return cls(made, list(lengths))

    def take(self, rows: Tensor) -> Noise:
        kept = rows.tolist()
        return Noise([self.generators[r] for r in kept], [self.lengths[r] for r in kept])

    def join(self, others: Sequence[Noise], sizes: Sequence[int]) -> Noise:
        """The noise of the rows of several, this one the first."""
        generators = [generator for noise in others for generator in noise.generators]
        return Noise(generators, [length for noise in others for length in noise.lengths])

    def uniform(self, row: Tensor, width: int) -> Tensor:
        """(n, width) draws from U(0, 1) in the widest float of the device, n the entries of `row`.

        Drawn one entry at a time, so that how entries are grouped changes nothing.
        """
        draws = [self._draw(r, width) for r in row.tolist()]
        if not draws:
            return torch.empty(0, width, dtype=_widest(row.device), device=row.device)
        return torch.stack(draws)

    def everywhere(self, length: int) -> Tensor:
        """(rows, length) draws from U(0, 1), zero beyond the end of each row."""
        rows = [
            torch.nn.functional.pad(self._draw(row, n), (0, length - n))
            for row, n in enumerate(self.lengths)
        ]
        return torch.stack(rows)

    def _draw(self, row: int, width: int) -> Tensor:
        generator = self.generators[row]
        device = generator.device
        return torch.rand(width, generator=generator, dtype=_widest(device), device=device)


def _widest(device: torch.device) -> torch.dtype:
    return torch.float32 if device.type == "mps" else torch.float64


def row_seed(seed: int, tokens: Sequence[int], repeat: int) -> int:
    """A seed from the run's seed, the row's own tokens and how often they came before."""
    said = f"{seed}:{repeat}:{','.join(map(str, tokens))}".encode()
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big") >> 1
