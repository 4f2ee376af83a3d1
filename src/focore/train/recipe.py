"""How the model is built and trained."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..decoding.options import LARGEST_SEED, Piece, option
from ..errors import OptionError, unknown
from .problems import TASKS

KINDS = ("drills", *TASKS)


@dataclass(frozen=True)
class Stage:
    """What is trained on from some step: tasks and how often."""

    start: int
    shares: Mapping[str, float]

    def __post_init__(self) -> None:
        for task in self.shares:
            if task not in KINDS:
                raise unknown("task of stages", task, KINDS)
        if min(self.shares.values(), default=0) < 0 or sum(self.shares.values()) <= 0:
            raise OptionError("stages must have shares of at least 0, and one above 0")


# Sums first; then word problems most, which are the slowest to learn.
STAGES = (
    Stage(0, {"drills": 0.6, "countdown": 0.2, "words": 0.2}),
    Stage(600, {"drills": 0.2, "countdown": 0.25, "words": 0.45, "arithmetic": 0.1}),
)


@dataclass(frozen=True)
class Recipe(Piece):
    """Sizes and settings of a run; the sizes are those of the shipped model."""

    width: int = option(192, "of the hidden states", low=1)
    layers: int = option(6, "of the transformer", low=1)
    heads: int = option(6, "of the attention", low=1)
    mlp_width: int = option(512, "of the MLP", low=1)
    steps: int = option(9000, "of the whole run", low=1)
    batch_tokens: int = option(2400, "tokens of a batch", low=400)
    learning_rate: float = option(2e-3, "of embedding, head and norms", above=0)
    matrix_rate: float = option(0.015, "of the matrices of the layers", above=0)
    warm_up: int = option(100, "steps in which the rate rises", low=0)
    decay: float = option(
        0.9, "share of the steps, at the end, in which the rate falls to nothing", low=0, high=1
    )
    weight_decay: float = option(0.05, "of the matrices", low=0)
    clip: float = option(1.0, "of the gradient's norm", above=0)
    average: float = option(0.998, "of the weights, over steps", low=0, high=1)
    save_every: int = option(100, "steps between checkpoints", low=1)
    measure_every: int = option(
        1000, "steps between measurements of held-out accuracy; 0 for none", low=0
    )
    measured: int = option(64, "problems of each task", low=1)
    seed: int = option(0, "where randomness begins", low=0, high=LARGEST_SEED)
    stages: tuple[Stage, ...] = STAGES

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width % (2 * self.heads):
            raise OptionError(f"width {self.width} must be a multiple of twice heads {self.heads}")
        if not self.stages or self.stages[0].start != 0:
            raise OptionError("stages must begin with one from step 0")

    def pace(self, step: int) -> float:
        """How much of the learning rates a step uses: up, level, and down to nothing."""
        up = (step + 1) / max(1, self.warm_up)
        down = (self.steps - step) / max(1.0, self.decay * self.steps)
        return max(0.0, min(1.0, up, down))

    def shares(self, step: int) -> Mapping[str, float]:
        """The shares of the tasks at a step."""
        return [stage.shares for stage in self.stages if stage.start <= step][-1]

    def settings(self) -> dict[str, Any]:
        """The settings as JSON has them."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain
