"""What is kept of a run: one row, step by step, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

CANDIDATES = 5  # of each position, at the step that wrote it


@dataclass(frozen=True)
class About:
    """What a run was, apart from its steps."""

    model: str
    method: str
    options: dict[str, Any]
    seed: int
    start: int  # where the answer begins
    mask_id: int
    end_ids: tuple[int, ...]
    measured: bool = False  # whether the instability was watched
    pieces: dict[int, str] = field(default_factory=dict)  # the text of each token that occurs
    joined: dict[str, str] = field(default_factory=dict)  # "id,id,...": characters split in tokens


@dataclass(frozen=True)
class Trace:
    """A run, step by step."""

    about: About
    canvas: Array  # (steps + 1, length) int32: before the first step, and after each
    committed: Array  # (steps, length) bool
    confidence: Array  # (steps, length) float16 of the tokens proposed, 0 where none was
    instability: Array  # (steps, length) float16: S
    divergence: Array  # (steps, length) float16: D
    core: Array  # (steps, length) bool
    hidden: Array  # (steps, length) bool: what the second pass could not see
    convergence: Array  # (steps,) float32: mean S of what was written, NaN where not measured
    passes: Array  # (steps,) int32
    seconds: Array  # (steps,) float32
    candidate: Array  # (length, n) int32, likeliest first, -1 for none
    likelihood: Array  # (length, n) float16

    @property
    def steps(self) -> int:
        return len(self.passes)

    @property
    def answer(self) -> list[int]:
        """The tokens after the prompt, as they ended up."""
        tokens: list[int] = self.canvas[-1, self.about.start :].tolist()
        return tokens


class Recorder:
    """The steps of one row so far."""

    def __init__(self, tokens: Sequence[int]):
        self.canvas: list[Array] = [np.array(tokens, dtype=np.int32)]
        self.kept: dict[str, list[Array]] = {name: [] for name in STEPWISE}
        self.candidate = np.full((len(tokens), CANDIDATES), -1, dtype=np.int32)
        self.likelihood = np.zeros((len(tokens), CANDIDATES), dtype=np.float16)
        self.measured = False

    def add(self, tokens: Array, notes: Mapping[str, Array], **row: Any) -> None:
        """Keep one more step: the canvas after it, its notes, and what else is said of it."""
        length = len(self.canvas[0])
        self.canvas.append(np.array(tokens[:length], dtype=np.int32))
        self.measured |= "instability" in notes
        mean = notes["convergence"] if "convergence" in notes else _mean(notes, length)
        found = {**{name: notes.get(name, 0) for name in NOTED}, "convergence": mean, **row}
        for name, kind in STEPWISE.items():
            value = np.asarray(found[name])
            if name in POSITIONWISE:
                value = np.broadcast_to(value[:length] if value.ndim else value, (length,))
            self.kept[name].append(value.astype(kind))

    def propose(self, position: int, tokens: Array, likelihood: Array) -> None:
        """Keep the likeliest tokens of a position, at the step that writes it."""
        self.candidate[position, : len(tokens)] = tokens
        self.likelihood[position, : len(tokens)] = likelihood

    def trace(self, about: About) -> Trace:
        """What was kept, as a trace."""
        length = len(self.canvas[0])
        stacked = {
            name: np.array(rows, dtype=STEPWISE[name]).reshape(
                (-1, length) if name in POSITIONWISE else -1
            )
            for name, rows in self.kept.items()
        }
        return Trace(
            about=about,
            canvas=np.stack(self.canvas),
            candidate=self.candidate,
            likelihood=self.likelihood,
            **stacked,
        )


NOTED = ("instability", "divergence", "core", "hidden")
POSITIONWISE = ("committed", "confidence", *NOTED)
STEPWISE: dict[str, Any] = {
    "committed": np.bool_,
    "confidence": np.float16,
    "instability": np.float16,
    "divergence": np.float16,
    "core": np.bool_,
    "hidden": np.bool_,
    "convergence": np.float32,
    "passes": np.int32,
    "seconds": np.float32,
}


def _mean(notes: Mapping[str, Array], length: int) -> float:
    """The mean S of the written positions; NaN without any."""
    if "instability" not in notes or "watched" not in notes:
        return float("nan")
    watched = notes["watched"][:length]
    return float(notes["instability"][:length][watched].mean()) if watched.any() else float("nan")
