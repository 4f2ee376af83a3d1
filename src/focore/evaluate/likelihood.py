"""How probable a model finds a text: a Monte-Carlo bound, seeded and stratified.

    -log p(y | x) <= E_{m ~ U{1..n}} [ n/m * sum over m masked positions of -log p(y_i | rest) ]

Each group of 16 draws spreads its m evenly over 1..n from a random start, as LLaDA's code does
(arXiv 2502.09992); the masked positions are a random subset of exactly that size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..decoding.noise import row_seed
from ..decoding.options import LARGEST_SEED, Piece, option
from ..errors import OptionError
from ..loading import Model
from ..model.denoiser import positionwise

GROUP = 16  # draws that share a stratification; numbers depend on it, so it is no option


@dataclass(frozen=True)
class Estimate(Piece):
    """How the likelihood is estimated."""

    samples: int = option(128, "draws of which positions are masked", low=1)
    seed: int = option(0, "where randomness begins", low=0, high=LARGEST_SEED)
    check_greedy: bool = option(True, "also decode, to see whether the text is the model's own")

    @torch.inference_mode()
    def __call__(
        self, model: Model, prompt: Sequence[int], target: Sequence[int]
    ) -> tuple[float, bool]:
        """The estimated log-likelihood of `target` after `prompt`, and whether it is greedy."""
        if not target:
            return 0.0, True
        limit = model.denoiser.max_length
        if len(target) > limit:
            raise OptionError(f"a text of {len(target)} tokens; the model has {limit} positions")
        prompt = [*prompt][max(0, len(prompt) + len(target) - limit) :]
        tokens = torch.tensor([*prompt, *target], device=model.denoiser.device)
        loss = self._loss(model, tokens, len(prompt))
        return -loss, self.check_greedy and _greedy(model, tokens, len(prompt))

    def _loss(self, model: Model, tokens: Tensor, start: int) -> float:
        length = tokens.shape[0] - start
        generator = torch.Generator().manual_seed(row_seed(self.seed, tokens.tolist(), start))
        samples = 1 if length == 1 else self.samples  # one token: every draw is the same
        losses = []
        for first in range(0, samples, GROUP):
            size = min(GROUP, samples - first)
            masked = _masks(size, length, generator).to(tokens.device)
            losses.append(_group_loss(model, tokens, start, masked))
        return float(torch.cat(losses).mean())


def _masks(rows: int, length: int, generator: torch.Generator) -> Tensor:
    """(rows, length) bool: random subsets whose sizes are spread evenly over 1..length."""
    first = int(torch.randint(1, length + 1, (1,), generator=generator))
    sizes = [(round(first + row * length / rows) - 1) % length + 1 for row in range(rows)]
    rank = torch.rand(rows, length, generator=generator).argsort(dim=1).argsort(dim=1)
    return rank < torch.tensor(sizes)[:, None]


def _group_loss(model: Model, tokens: Tensor, start: int, masked: Tensor) -> Tensor:
    """(rows,) n/m times the sum of -log p over the masked positions."""
    where = torch.nn.functional.pad(masked, (start, 0))
    canvas = torch.where(where, model.mask_id, tokens)
    prediction = model.denoiser.predict(canvas, None)

    def measure(row: Tensor, position: Tensor) -> tuple[Tensor]:
        logits = prediction.logits(row, position)
        right = logits.gather(1, tokens[position][:, None])[:, 0]
        return (logits.logsumexp(dim=1) - right,)

    (loss,) = positionwise(where, prediction.vocabulary, measure)
    return loss.sum(dim=1).double() * masked.shape[1] / masked.sum(dim=1)


def _greedy(model: Model, tokens: Tensor, start: int) -> bool:
    """Whether decoding the most confident position first gives the text itself."""
    canvas = tokens.clone()
    canvas[start:] = model.mask_id
    while bool((open_ := canvas == model.mask_id).any()):
        position = open_.nonzero()[:, 0]
        logits = model.denoiser.predict(canvas[None], None).logits(
            torch.zeros_like(position), position
        )
        logits[:, model.mask_id] = -torch.inf
        best = logits.softmax(dim=1).max(dim=1)
        sure = int(best.values.argmax())
        if best.indices[sure] != tokens[position[sure]]:
            return False
        canvas[position[sure]] = tokens[position[sure]]
    return True
