"""The denoising of one prompt, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .canvas import Row
from .decoding.loop import Step
from .generation import Plan, Runner, row_seeds
from .loading import Model
from .prompts import Prompt

OPEN = "[MASK]"


@dataclass(frozen=True)
class Frame:
    """One denoising step."""

    index: int  # 0, 1, 2, ...
    tokens: list[int]  # the whole canvas after the step, prompt included
    start: int  # where the answer begins
    text: str  # the answer, [MASK] where it is open; empty without a tokenizer
    committed: list[int]  # positions written in this step
    confidence: list[float]  # per position: probability of the token proposed, 0 where none was
    passes: int  # forward passes of this step
    notes: dict[str, Any]  # per position or for the row: instability, divergence, hidden, ...


def stream(
    model: Model,
    prompt: Prompt,
    *,
    method: str = "focore",
    seed: int = 0,
    chat: bool | None = None,
    watch: bool = False,
    **options: Any,
) -> Iterator[Frame]:
    """One `Frame` per denoising step; takes what `generate` takes, but no `stop` or `batch_size`.

    The options are checked at once, the steps are computed as they are asked for. With `watch` the
    notes of any method that decodes on one canvas have the instability of every token.
    """
    plan = Plan.make(model, method, seed, options)
    plan = plan.watched() if watch else plan
    row = plan.continuation(prompt, chat)
    return _frames(plan, row)


def _frames(plan: Plan, row: Row) -> Iterator[Frame]:
    runner = Runner(plan)
    runner.admit([row], row_seeds(plan.seed, [row]), [0])
    index = 0
    while len(runner.batch):
        yield frame(row, index, runner.batch.step(), model=plan.model)
        index += 1


def frame(row: Row, index: int, step: Step, place: int = 0, model: Model | None = None) -> Frame:
    """A step of one row, the one at `place` of those that took it; its text with a model only."""
    length = len(row.tokens)
    tokens = step.tokens[place, :length].tolist()
    return Frame(
        index=index,
        tokens=tokens,
        start=row.start,
        text=draft(model, tokens[row.start :]) if model else "",
        committed=step.committed[place, :length].nonzero()[:, 0].tolist(),
        confidence=step.confidence[place, :length].tolist(),
        passes=int(step.passes[place]),
        notes={
            name: (value[place, :length] if value.dim() > 1 else value[place]).tolist()
            for name, value in step.notes.items()
        },
    )


def draft(model: Model, tokens: list[int]) -> str:
    """The text of an unfinished answer, each open position as [MASK]."""
    if model.text is None:
        return ""
    parts: list[str] = []
    run: list[int] = []
    for token in tokens:
        if token == model.mask_id:
            parts += [model.text.decode(run), OPEN]
            run = []
        else:
            run.append(token)
    return "".join([*parts, model.text.decode(run)])
