"""Training the shipped model from nothing.

Masked diffusion as in LLaDA (Nie et al., 2025): a share t ~ U(0, 1) of the answer is hidden, the
prompt is kept. The loss is the plain cross-entropy over the hidden tokens: LLaDA's weight 1/t
has the same minimum and a far larger variance.
"""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

from ..errors import CheckpointError, DecodingError
from ..model.transformer import Transformer
from .batches import Batch, Source
from .measure import accuracy
from .optimizer import Optimizer
from .recipe import Recipe
from .start import make_model, make_tokenizer
from .state import export, load_state, save_state

# What may change when a run goes on.
FREE = ("steps", "decay", "stages", "save_every", "measure_every", "measured")
SMOOTH = 0.95  # of the reported losses


@dataclass(frozen=True)
class Progress:
    """Where a run stands."""

    step: int
    steps: int
    begun: int  # the step that this process went on from
    seconds: float  # in this process
    loss: dict[str, float]  # by task, smoothed
    saved: bool  # a checkpoint was written in this step
    accuracy: dict[str, float] | None = None  # by task, of held-out problems, when measured


Report = Callable[[Progress], None]


@dataclass
class Run:
    """Everything that changes while training."""

    recipe: Recipe
    tokenizer: Tokenizer
    model: Transformer
    average: Transformer
    optimizer: Optimizer
    step: int = 0
    loss: dict[str, float] = field(default_factory=dict)

    def advance(self, batch: Batch) -> None:
        """Learn from one batch."""
        loss = masked_loss(self.model, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step(self.step)
        self.step += 1
        self._smooth(batch.task, loss.item())
        keep = min(self.recipe.average, self.step / (self.step + 10))
        with torch.no_grad():
            for mean, weight in zip(
                self.average.parameters(), self.model.parameters(), strict=True
            ):
                mean.lerp_(weight, 1 - keep)

    def save(self, folder: Path) -> None:
        """Write the state, then the averaged model as an ordinary checkpoint."""
        about = {"recipe": self.recipe.settings(), "step": self.step, "loss": self.loss}
        save_state(folder, self._tensors(), about)
        export(folder, self.average, self.tokenizer)

    def restore(self, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
        """Take up a saved state."""
        for name, tensor in self._tensors().items():
            if name not in tensors or tensors[name].shape != tensor.shape:
                raise CheckpointError(f"the training state lacks {name} or has it in another shape")
            tensor.copy_(tensors[name])
        self.step, self.loss = about["step"], about["loss"]

    def _tensors(self) -> dict[str, Tensor]:
        found = {f"model.{name}": weight for name, weight in self.model.state_dict().items()}
        found |= {f"average.{name}": weight for name, weight in self.average.state_dict().items()}
        return found | self.optimizer.moments

    def _smooth(self, task: str, value: float) -> None:
        if not value < float("inf"):
            raise DecodingError(f"the loss is {value} at step {self.step}; lower the learning rate")
        self.loss[task] = SMOOTH * self.loss.get(task, value) + (1 - SMOOTH) * value


def masked_loss(model: Transformer, batch: Batch) -> Tensor:
    """Weighted mean cross-entropy of the hidden tokens."""
    shown = batch.tokens.masked_fill(batch.masked, model.config.mask_id)
    logits = model.head(model(shown)[batch.masked])
    each = F.cross_entropy(logits, batch.tokens[batch.masked], reduction="none")
    weight = batch.weight[batch.masked]
    return (each * weight).sum() / weight.sum()


def task_of(step: int, recipe: Recipe) -> str:
    """The task of a step, drawn by the shares of its stage."""
    rng = random.Random(f"{recipe.seed} task {step}")
    shares = recipe.shares(step)
    return rng.choices(tuple(shares), tuple(shares.values()))[0]


def begin(folder: Path, recipe: Recipe) -> Run:
    """A new run, or the one in `folder` from its last checkpoint."""
    tokenizer = make_tokenizer(recipe.seed)
    model = make_model(recipe, tokenizer)
    run = Run(recipe, tokenizer, model, copy.deepcopy(model), Optimizer(model, recipe))
    saved = load_state(folder)
    if saved is not None:
        _same(folder, saved[1]["recipe"], recipe)
        run.restore(*saved)
    return run


def _same(folder: Path, old: dict[str, Any], recipe: Recipe) -> None:
    for name, value in recipe.settings().items():
        if name not in FREE and old.get(name) != value:
            raise CheckpointError(
                f"{folder}: the run there has {name} {old.get(name)}, not {value}; "
                "use the same settings or another folder"
            )


def train(folder: str | Path, recipe: Recipe | None = None, report: Report | None = None) -> Path:
    """Train to the recipe's last step, going on from `folder` if a run is there."""
    recipe, folder = recipe or Recipe(), Path(folder)
    run = begin(folder, recipe)
    source = Source(run.tokenizer, recipe.seed, recipe.batch_tokens)
    started, begun = time.perf_counter(), run.step
    if run.step == 0:
        run.save(folder)  # an unwritable folder is found out now, not after the first hour
    while run.step < recipe.steps:
        run.advance(source.batch(task_of(run.step, recipe), run.step))
        saved, measured = _due(run.step, recipe)
        if saved:
            run.save(folder)
        found = accuracy(folder, recipe.measured) if measured else None
        if report is not None:
            seconds = time.perf_counter() - started
            report(Progress(run.step, recipe.steps, begun, seconds, dict(run.loss), saved, found))
    return folder


def _due(step: int, recipe: Recipe) -> tuple[bool, bool]:
    """Whether to save after a step, and whether to measure what was saved."""
    last = step == recipe.steps
    every = recipe.measure_every
    measured = every > 0 and (last or step % every == 0)
    return measured or last or step % recipe.save_every == 0, measured
