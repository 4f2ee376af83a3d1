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
from ..prompts import Prompt
from ..streaming import Frame, stream
from ..text import Text

RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
ROWS = 64  # replayed at once


@dataclass(frozen=True)
class Sensitivity:
    """One answer up to its first end token, and what masking its prompt does to it."""

    prompt: list[str]  # the pieces of the prompt
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
    ratios: Sequence[float] = RATIOS,
    seed: int = 0,
    chat: bool | None = None,
) -> Sensitivity:
    """Replay the answer to one prompt with its prompt masked bit by bit."""
    if model.text is None:
        raise OptionError(f"{model.name} has no tokenizer files; the analysis needs text")
    run = stream(
        model,
        prompt,
        method="confidence",
        seed=seed,
        chat=chat,
        gen_length=gen_length,
        block_length=gen_length,
    )
    frames = list(run)
    start, final = frames[0].start, frames[-1].tokens
    masked = prompt_masks(model.text, final[:start], ratios, seed)
    change = torch.cat([part.T for part in _replayed(model, frames, masked)])
    order = [position for frame in frames for position in sorted(frame.committed)]
    change = change[torch.tensor(order).argsort()]
    length = _length(final[start:], model.end_ids)
    pieces = model.text.pieces(final[start : start + length])
    when = {position: frame.index for frame in frames for position in frame.committed}
    return Sensitivity(
        prompt=model.text.pieces(final[:start]),
        pieces=pieces,
        step=[when[start + i] for i in range(length)],
        steps=len(frames),
        dense=[dense(piece) for piece in pieces],
        ratios=tuple(ratios),
        masked=masked.tolist(),
        change=change[:length].T.tolist(),
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
def _replayed(model: Model, frames: Sequence[Frame], masked: Tensor) -> Iterator[Tensor]:
    """Change of confidence (ratios, tokens) of each frame, its tokens from left to right."""
    start, length = frames[0].start, len(frames[0].tokens)
    hidden = torch.zeros(len(masked) + 1, length, dtype=torch.bool)  # the first row masks nothing
    hidden[1:, :start] = masked
    before = frames[-1].tokens[:start] + [model.mask_id] * (length - start)
    per_pass = max(1, ROWS // len(hidden))
    for first in range(0, len(frames), per_pass):
        group = frames[first : first + per_pass]
        canvases = [before, *(frame.tokens for frame in group[:-1])]
        before = group[-1].tokens
        tokens = torch.tensor(canvases).repeat_interleave(len(hidden), dim=0)
        tokens = tokens.masked_fill(hidden.repeat(len(group), 1), model.mask_id)
        prediction = model.denoiser.predict(tokens.to(model.denoiser.device), None)
        for place, frame in enumerate(group):
            positions = sorted(frame.committed)
            row = torch.arange(len(hidden)).repeat_interleave(len(positions)) + place * len(hidden)
            position = torch.tensor(positions * len(hidden), dtype=torch.long)
            written = torch.tensor([frame.tokens[i] for i in positions] * len(hidden))
            logits = prediction.logits(row, position).softmax(dim=1).cpu()
            p = logits.gather(1, written[:, None].long())[:, 0].view(len(hidden), -1)
            yield p[1:] - p[:1]


def _length(answer: Sequence[int], ends: Sequence[int]) -> int:
    """Tokens before the first end token."""
    return next((i for i, token in enumerate(answer) if token in ends), len(answer))
