"""Prophet (arXiv 2508.19982): stop refining once the answer is clear.

When the mean gap between the best and the second-best logit over the answer region reaches a
threshold that falls as decoding goes on, every mask left is filled with its best token. The region
is `answer_length` tokens from `answer_start`; by default it follows the fixed text in the answer.
Without a region there is no early exit. The public code ties the region to one prompt format and a
length of 5; here both are options. A step that a block with fixed text does not need is not taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..canvas import Canvas, highest
from ..errors import OptionError
from ..model.denoiser import positionwise
from .commit import Choice, Propose
from .guidance import Guided
from .noise import Noise
from .options import Piece, is_finite, option
from .sampler import Proposal
from .schedules import Schedule

EARLY, MIDDLE = 0.33, 0.67  # progress at which the second and third threshold begin


@dataclass(frozen=True)
class Clear(Piece):
    """Commit by score until the answer region is clear, then everything."""

    schedule: Schedule
    thresholds: tuple[float, ...] = option(
        (7.5, 5.0, 2.5),
        "logit gaps that end decoding early, midway and late",
        kind=object,
        form="three numbers",
    )
    answer_start: int | None = option(
        None, "offset of the answer region (none: after the fixed text)", kind=int, low=0
    )
    answer_length: int = option(5, "tokens of the answer region", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.thresholds
        numbers = isinstance(given, (list, tuple)) and len(given) == 3
        if not numbers or not all(map(is_finite, given)):
            raise OptionError(f"thresholds={given!r} is not allowed; it must be three numbers")
        object.__setattr__(self, "thresholds", tuple(float(gap) for gap in given))

    def start(self) -> Clear:
        return self

    def __call__(self, canvas: Canvas, guided: Guided, propose: Propose, noise: Noise) -> Choice:
        proposal = propose(canvas.open)
        where = highest(proposal.score, self.schedule(canvas), canvas.open)
        gap = self._gap(canvas, guided)
        clear = gap >= self._threshold(canvas)
        if bool(clear.any()):
            rest = canvas.masked & ~canvas.open & clear[:, None]
            proposal = _both(proposal, propose(rest), rest)
            where |= canvas.masked & clear[:, None]
        return Choice(where, proposal, {"gap": gap})

    def _region(self, canvas: Canvas) -> Tensor:
        """(rows, length) bool: the answer region."""
        position = torch.arange(canvas.tokens.shape[1], device=canvas.tokens.device)
        if self.answer_start is None:
            fixed = canvas.given & (canvas.block >= 0)
            last = torch.where(fixed, position, -1).amax(dim=1)
            first = torch.where(last < 0, canvas.tokens.shape[1], last + 1)
        else:
            first = canvas.start + self.answer_start
        offset = position - first[:, None]
        return canvas.valid & (offset >= 0) & (offset < self.answer_length)

    def _gap(self, canvas: Canvas, guided: Guided) -> Tensor:
        """(rows,) mean logit gap over the region; -inf where there is none."""

        def measure(row: Tensor, position: Tensor) -> tuple[Tensor]:
            best = guided.logits(row, position).topk(2, dim=1).values
            return (best[:, 0] - best[:, 1],)

        region = self._region(canvas)
        (gap,) = positionwise(region, guided.vocabulary, measure)
        size = region.sum(dim=1)
        return torch.where(size > 0, gap.sum(dim=1) / size.clamp(min=1), -torch.inf)

    def _threshold(self, canvas: Canvas) -> Tensor:
        """(rows,) the gap that ends decoding at this step."""
        progress = (canvas.step + 1) / canvas.budget.sum(dim=1)
        phase = (progress >= EARLY).long() + (progress >= MIDDLE).long()
        return torch.tensor(self.thresholds, device=progress.device)[phase]


def _both(first: Proposal, second: Proposal, where: Tensor) -> Proposal:
    return Proposal(
        torch.where(where, second.token, first.token),
        torch.where(where, second.probability, first.probability),
        torch.where(where, second.score, first.score),
    )
