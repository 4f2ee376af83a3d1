"""How the model is built and trained."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

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
POSITIVE = ("width", "layers", "heads", "mlp_width", "steps", "batch_tokens", "save_every")


@dataclass(frozen=True)
class Recipe:
    """Sizes and settings of a run; the sizes are those of the shipped model."""

    width: int = 192
    layers: int = 6
    heads: int = 6
    mlp_width: int = 512
    steps: int = 9000
    batch_tokens: int = 2400
    learning_rate: float = 2e-3  # of embedding, head and norms
    matrix_rate: float = 0.015  # of the matrices of the layers
    warm_up: int = 100  # steps
    decay: float = 0.9  # share of the steps, at the end, in which the rate falls to nothing
    weight_decay: float = 0.05
    clip: float = 1.0  # of the gradient's norm
    average: float = 0.998  # of the weights, over steps
    save_every: int = 100
    measure_every: int = 1000  # steps between measurements of held-out accuracy; 0 for none
    measured: int = 64  # problems of each task
    seed: int = 0
    stages: tuple[Stage, ...] = STAGES

    def __post_init__(self) -> None:
        for name in POSITIVE:
            if getattr(self, name) < 1:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.width % (2 * self.heads):
            raise OptionError(f"width {self.width} must be a multiple of twice heads {self.heads}")
        if self.batch_tokens < 400:
            raise OptionError(f"batch_tokens is {self.batch_tokens}; it must be at least 400")
        for name in ("decay", "average"):
            if not 0 <= getattr(self, name) <= 1:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be from 0 to 1")
        for name in ("learning_rate", "matrix_rate", "clip"):
            if not 0 < getattr(self, name) < math.inf:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be above 0")
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
