"""Which tokens are core, seen without guiding anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .errors import OptionError
from .loading import Model
from .prompts import Prompt
from .streaming import stream

BANDS = ((1.0, "extremely high"), (0.1, "high"), (0.01, "medium"), (0.0, "low"))


@dataclass(frozen=True)
class CoreTokens:
    """The instability of every position over a run."""

    tokens: list[int]  # prompt and answer, as they ended up
    pieces: list[str]  # each token's text; empty without a tokenizer
    start: int  # where the answer begins
    instability: list[list[float]]  # S by step and position
    divergence: list[list[float]]  # D by step and position
    core: list[list[int]]  # the core positions of each step

    @property
    def score(self) -> list[float]:
        """The largest S that each position reached."""
        return [max(column) for column in zip(*self.instability, strict=True)]

    @property
    def total(self) -> list[float]:
        """The sum of D over the run at each position."""
        return [sum(column) for column in zip(*self.divergence, strict=True)]


def band(value: float) -> int:
    """The paper's band of an instability: its place in `BANDS`, 0 the highest."""
    return next(i for i, (floor, _) in enumerate(BANDS) if value > floor or floor == 0)


def core_tokens(model: Model, prompt: Prompt, **options: Any) -> CoreTokens:
    """Decode by plain confidence and watch which tokens keep shifting.

    Takes the options of `generate` with FoCore's, except the guidance scale, which is 0: nothing is
    guided, and there is one pass a step.
    """
    for name in ("method", "guidance_scale"):
        if name in options:
            raise OptionError(f"{name} is not an option of core_tokens, which guides nothing")
    frames = list(stream(model, prompt, method="focore", guidance_scale=0.0, **options))
    if not frames:
        raise OptionError("the answer is all fixed text; there is nothing to decode")
    tokens = frames[-1].tokens
    return CoreTokens(
        tokens=tokens,
        pieces=model.text.pieces(tokens) if model.text else [],
        start=frames[-1].start,
        instability=[frame.notes["instability"] for frame in frames],
        divergence=[frame.notes["divergence"] for frame in frames],
        core=[[i for i, chosen in enumerate(f.notes["core"]) if chosen] for f in frames],
    )
