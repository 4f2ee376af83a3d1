"""Decoding as the public code writes it: one row, whole logits, float64 over the vocabulary.

Plain and literal, for measuring against; the tokens are those of the library.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from focore.model.transformer import Transformer


def logits_of(model: Transformer, canvas: Tensor) -> Tensor:
    """(1, length, vocabulary), the head on every position."""
    logits: Tensor = model.head(model(canvas))
    return logits


def quotas(masks: int, steps: int) -> Iterator[int]:
    """How many tokens each step of a block commits."""
    for step in range(steps):
        yield masks // steps + (step < masks % steps)


def commit(canvas: Tensor, logits: Tensor, end: int, count: int, mask: int) -> None:
    """Write the `count` most confident tokens before `end`."""
    masked = canvas == mask
    logits[..., mask] = -torch.inf
    token = logits.argmax(dim=-1)
    p = logits.double().softmax(dim=-1)
    confidence = p.gather(-1, token[..., None])[..., 0]
    confidence[:, end:] = -torch.inf
    confidence = torch.where(masked, confidence, -torch.inf)
    chosen = confidence[0].topk(count).indices
    canvas[0, chosen] = token[0, chosen]


def start(prompt: list[int], length: int, mask: int) -> Tensor:
    return torch.tensor([prompt + [mask] * length])


@torch.inference_mode()
def confidence(
    model: Transformer, prompt: list[int], length: int, block: int, steps: int
) -> list[int]:
    """Low-confidence remasking."""
    mask = model.config.mask_id
    canvas = start(prompt, length, mask)
    for first in range(len(prompt), len(prompt) + length, block):
        for count in quotas(block, steps * block // length):
            commit(canvas, logits_of(model, canvas), first + block, count, mask)
    return canvas[0, len(prompt) :].tolist()


@torch.inference_mode()
def focore(model: Transformer, prompt: list[int], length: int, block: int, steps: int) -> list[int]:
    """FoCore by its definition, with the whole distribution of the step before."""
    mask, w, core, k, decay = model.config.mask_id, 0.3, 8, 256, 0.9
    canvas = start(prompt, length, mask)
    score = torch.zeros(canvas.shape, dtype=torch.float64)
    before: Tensor | None = None
    for first in range(len(prompt), len(prompt) + length, block):
        for count in quotas(block, steps * block // length):
            given = logits_of(model, canvas)
            now = given.double().softmax(dim=-1)
            written = canvas != mask
            if before is not None:
                divergence = truncated_divergence(now, before, k)
                smoothed = decay * score + (1 - decay) * divergence
                score = torch.where(written, smoothed, score)
            before = now
            order = torch.where(written, score, -torch.inf).sort(descending=True, stable=True)
            hidden = canvas.clone()
            hidden[0, order.indices[0, :core]] = mask
            guided = given + w * (given - logits_of(model, hidden))
            commit(canvas, guided, first + block, count, mask)
    return canvas[0, len(prompt) :].tolist()


def truncated_divergence(p: Tensor, q: Tensor, k: int) -> Tensor:
    """Jensen-Shannon on the top k of p."""
    top = p.topk(k, dim=-1).indices
    p, q = p.gather(-1, top), q.gather(-1, top)
    m = (p + q) / 2
    return ((p * (p / m).log()).nansum(dim=-1) + (q * (q / m).log()).nansum(dim=-1)) / 2
