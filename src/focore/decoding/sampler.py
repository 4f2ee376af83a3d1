"""Which token at each position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from ..errors import DecodingError
from ..model.denoiser import positionwise
from ..model.head import best_of
from .noise import Noise
from .scores import Candidates, Score


class Scored(Protocol):
    """Something with logits at positions: a prediction, or a contrast of two."""

    @property
    def vocabulary(self) -> int: ...

    def logits(self, row: Tensor, position: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class Proposal:
    """A token for each position asked for; zeros elsewhere."""

    token: Tensor  # (rows, length)
    probability: Tensor  # (rows, length)
    score: Tensor  # (rows, length) higher is committed first


@dataclass(frozen=True)
class Sampler:
    """Proposes the best token, or draws one, and says how sure it is.

    [MASK] is never proposed, but its mass stays in the distribution. Suppressed tokens leave the
    distribution. Deferred tokens may be proposed, with probability 0, and leave the distribution of
    all others, as in LLaDA's code. `top_p` and `top_k` cut and renormalise at temperature 0 too, as
    in Dream's. The temperature shapes the draw and the cut, not the probability that is reported.
    """

    score: Score
    mask_id: int
    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    suppressed: tuple[int, ...] = ()
    deferred: tuple[int, ...] = ()

    def propose(self, scored: Scored, where: Tensor, noise: Noise) -> Proposal:
        """A proposal for the True positions of `where` (rows, length)."""

        def measure(row: Tensor, position: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
            logits = scored.logits(row, position)
            found = self._choose(row, logits, noise)
            score = self.score(found, noise)
            if self.deferred:
                lowest = torch.finfo(score.dtype).min
                score = torch.where(self._among(found.token, self.deferred), lowest, score)
            # NaN and infinity win an argmax or reach the total; -inf of a total is an empty cut.
            value = logits.gather(1, found.token[:, None])[:, 0]
            value = value + torch.where(found.log_total.isneginf(), 0, found.log_total)
            return found.token, found.probability, score, value

        token, probability, score, value = positionwise(where, scored.vocabulary, measure)
        if not bool(value.isfinite().all()):
            row, position = (~value.isfinite()).nonzero()[0].tolist()
            raise DecodingError(
                f"the model's logits at row {row}, position {position} are not finite; "
                "try a wider dtype"
            )
        return Proposal(token, probability, score)

    def _choose(self, row: Tensor, logits: Tensor, noise: Noise) -> Candidates:
        if self.suppressed:
            logits[:, list(self.suppressed)] = -torch.inf
        cut = self._cut(logits)
        token = self._draw(row, logits, cut, noise) if self.temperature else self._best(logits)
        if self.deferred:
            cut = cut.clone() if cut is logits else cut
            cut[:, list(self.deferred)] = -torch.inf
        log_total = cut.logsumexp(dim=1)
        probability = (cut.gather(1, token[:, None])[:, 0] - log_total).exp()
        probability = torch.where(log_total.isneginf(), 0, probability)
        return Candidates(row, cut, log_total, token, probability)

    def _best(self, logits: Tensor) -> Tensor:
        """The best token other than [MASK], the smaller id of two."""
        mask = logits[:, self.mask_id].clone()
        logits[:, self.mask_id] = -torch.inf
        token = best_of(logits)
        logits[:, self.mask_id] = mask
        return token

    def _draw(self, row: Tensor, logits: Tensor, cut: Tensor, noise: Noise) -> Tensor:
        """A draw from what the cut leaves besides [MASK]; the best token if it leaves nothing."""
        uniform = noise.uniform(row, logits.shape[1])
        tempered = cut.to(uniform.dtype) / self.temperature
        tempered[:, self.mask_id] = -torch.inf
        drawn = (tempered - (-uniform.log()).log()).argmax(dim=1)
        return torch.where(tempered.isneginf().all(dim=1), self._best(logits), drawn)

    def _cut(self, logits: Tensor) -> Tensor:
        """The logits with all but the nucleus and the top k at -inf."""
        cut = logits
        if self.top_p is not None and self.top_p < 1:
            tempered = logits / self.temperature if self.temperature else logits
            values, order = tempered.sort(dim=1, descending=True, stable=True)
            beyond = values.softmax(dim=1).cumsum(dim=1) > self.top_p
            # The token that crosses the bound stays.
            removed = torch.cat((torch.zeros_like(beyond[:, :1]), beyond[:, :-1]), dim=1)
            removed = torch.empty_like(removed).scatter_(1, order, removed)
            cut = logits.masked_fill(removed, -torch.inf)
        if self.top_k is not None and self.top_k < logits.shape[1]:
            least = cut.topk(self.top_k, dim=1).values[:, -1:]
            cut = cut.masked_fill(cut < least, -torch.inf)
        return cut

    @staticmethod
    def _among(token: Tensor, ids: tuple[int, ...]) -> Tensor:
        return torch.isin(token, torch.tensor(ids, device=token.device))
