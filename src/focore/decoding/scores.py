"""How sure a proposal is: the orders in which masks are committed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from .noise import Noise


@dataclass(frozen=True)
class Candidates:
    """Proposed tokens at n positions, and the distributions they came from."""

    row: Tensor  # (n,)
    logits: Tensor  # (n, vocabulary), what is cut or suppressed at -inf
    log_total: Tensor  # (n,) log-sum-exp of the logits
    token: Tensor  # (n,)
    probability: Tensor  # (n,) of the token


class Score(Protocol):
    """Scores (n,) of candidates; higher is committed first."""

    def __call__(self, candidates: Candidates, noise: Noise) -> Tensor: ...


def confidence(candidates: Candidates, noise: Noise) -> Tensor:
    """p(token)."""
    return candidates.probability


def margin(candidates: Candidates, noise: Noise) -> Tensor:
    """p(token) - p(best other token)."""
    logits, token = candidates.logits, candidates.token[:, None]
    best = logits.topk(min(2, logits.shape[1]), dim=1)
    other = torch.where(best.indices == token, -torch.inf, best.values).amax(dim=1)
    return candidates.probability - (other - candidates.log_total).exp()


def entropy(candidates: Candidates, noise: Noise) -> Tensor:
    """sum p log p, the negative entropy."""
    p = (candidates.logits - candidates.log_total[:, None]).exp()
    return (p * (p + 1e-10).log()).sum(dim=1)


def random(candidates: Candidates, noise: Noise) -> Tensor:
    """U(0, 1)."""
    return noise.uniform(candidates.row, 1)[:, 0].to(candidates.probability.dtype)
