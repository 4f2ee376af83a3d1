"""Intervals and paired tests for shares of problems solved."""

from __future__ import annotations

import math
from collections.abc import Sequence


def wilson(right: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """The 95% interval of a share (Wilson's score)."""
    if total == 0:
        return 0.0, 1.0
    share, square = right / total, z * z
    centre = (share + square / (2 * total)) / (1 + square / total)
    half = z * math.sqrt(share * (1 - share) / total + square / (4 * total**2))
    half /= 1 + square / total
    return max(0.0, centre - half), min(1.0, centre + half)


def mcnemar(ours: Sequence[bool], theirs: Sequence[bool]) -> float:
    """The exact two-sided p-value that two methods solve the same problems equally often."""
    won = sum(a and not b for a, b in zip(ours, theirs, strict=True))
    lost = sum(b and not a for a, b in zip(ours, theirs, strict=True))
    total = won + lost
    if total == 0:
        return 1.0
    tail = sum(math.comb(total, k) for k in range(min(won, lost) + 1))
    return min(1.0, 2 * tail / 2**total)


def p_value(p: float) -> str:
    """p as tables have it."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"
