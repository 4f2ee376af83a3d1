"""Findings 1 and 2: how much the confidence in each generated token hangs on the prompt.

A prompt is answered by plain confidence decoding. Every step is then replayed with a growing
random share of the prompt masked, everything else as it was, and the probability of the token that
the step committed is compared with the one it had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..decoding.noise import row_seed
from ..decoding.words import dense
from ..errors import OptionError
from ..loading import Model
from ..model.denoiser import Prediction
from ..prompts import Prompt
from ..streaming import Frame, stream
from ..text import Text

RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
ROWS = 64  # replayed at once


@dataclass(frozen=True)
class Sensitivity:
    """One answer up to its first end token, and what masking its prompt does to it."""

    pieces: list[str]  # the tokens of the answer as text
    step: list[int]  # when each was committed
    steps: int  # how many steps there were
    dense: list[bool]  # by the linguistic rule
    ratios: tuple[float, ...]
    masked: list[list[bool]]  # by ratio and prompt position
    change: list[list[float]]  # of the confidence, by ratio and token; negative is a drop


def sensitivity(
    model: Model,
    prompt: Prompt,
    *,
    gen_length: int = 32,
    seed: int = 0,
) -> Sensitivity:
    """Replay the answer to one prompt with its prompt masked bit by bit."""
    if model.text is None:
        raise OptionError(f"{model.name} has no tokenizer files; the analysis needs text")
    run = stream(
        model,
        prompt,
        method="confidence",
        seed=seed,
        gen_length=gen_length,
        block_length=gen_length,
    )
    frames = list(run)
    start, final = frames[0].start, frames[-1].tokens
    length = _length(final[start:], model.end_ids)
    masked = prompt_masks(model.text, final[:start], RATIOS, seed)
    change = torch.zeros(len(final), len(masked))
    for positions, part in _replayed(model, frames, masked, range(start, start + length)):
        change[positions] = part.T
    pieces = model.text.pieces(final[start : start + length])
    when = {position: frame.index for frame in frames for position in frame.committed}
    return Sensitivity(
        pieces=pieces,
        step=[when[start + i] for i in range(length)],
        steps=len(frames),
        dense=[dense(piece) for piece in pieces],
        ratios=RATIOS,
        masked=masked.tolist(),
        change=change[start : start + length].T.tolist(),
    )


def prompt_masks(text: Text, prompt: Sequence[int], ratios: Sequence[float], seed: int) -> Tensor:
    """(ratios, length) bool: random shares of the prompt's ordinary tokens, each in the next."""
    ordinary = [i for i, token in enumerate(prompt) if token not in text.special_ids]
    generator = torch.Generator().manual_seed(row_seed(seed, prompt, 0))
    order = torch.randperm(len(ordinary), generator=generator).tolist()
    masks = torch.zeros(len(ratios), len(prompt), dtype=torch.bool)
    for row, ratio in enumerate(ratios):
        masks[row, [ordinary[i] for i in order[: round(ratio * len(ordinary))]]] = True
    return masks


@torch.inference_mode()
def _replayed(
    model: Model, frames: Sequence[Frame], masked: Tensor, answer: range
) -> Iterator[tuple[list[int], Tensor]]:
    """The positions of the answer that each frame wrote; their change of confidence (ratios, n)."""
    start, length = frames[0].start, len(frames[0].tokens)
    hidden = torch.zeros(len(masked) + 1, length, dtype=torch.bool)  # the first row masks nothing
    hidden[1:, :start] = masked
    first = frames[-1].tokens[:start] + [model.mask_id] * (length - start)
    canvases = [first, *(frame.tokens for frame in frames[:-1])]
    written = [sorted(set(frame.committed) & set(answer)) for frame in frames]
    steps = [i for i, positions in enumerate(written) if positions]
    per_pass = max(1, ROWS // len(hidden))
    for low in range(0, len(steps), per_pass):
        some = steps[low : low + per_pass]
        tokens = torch.tensor([canvases[i] for i in some]).repeat_interleave(len(hidden), dim=0)
        tokens = tokens.masked_fill(hidden.repeat(len(some), 1), model.mask_id)
        prediction = model.denoiser.predict(tokens.to(model.denoiser.device), None)
        for place, i in enumerate(some):
            row = torch.arange(len(hidden)) + place * len(hidden)
            p = _probability(prediction, row, written[i], frames[i].tokens)
            yield written[i], p[1:] - p[:1]


def _probability(
    prediction: Prediction, row: Tensor, positions: Sequence[int], tokens: Sequence[int]
) -> Tensor:
    """(rows, n): what the rows give to the tokens at n positions."""
    count, size = len(row), len(positions)
    everywhere = torch.tensor(positions).repeat(count)
    wanted = torch.tensor([tokens[i] for i in positions]).repeat(count)
    p = prediction.logits(row.repeat_interleave(size), everywhere).softmax(dim=1).cpu()
    return p.gather(1, wanted[:, None])[:, 0].view(count, size)


def _length(answer: Sequence[int], ends: Sequence[int]) -> int:
    """Tokens before the first end token."""
    return next((i for i, token in enumerate(answer) if token in ends), len(answer))
