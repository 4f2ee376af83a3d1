"""The requests that come: Poisson arrivals, and how long prompts and answers are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Requests:
    """A stream of requests in order of arrival."""

    arrival: NDArray[np.float64]  # (n,) seconds
    length: NDArray[np.int64]  # (n,) tokens of the canvas, prompt and answer
    steps: NDArray[np.int64]  # (n,)

    def __len__(self) -> int:
        return len(self.arrival)


@dataclass(frozen=True)
class Traffic:
    """What is asked: a prompt and an answer length, each drawn from equally likely ones.

    An answer costs its whole length: the canvas of a diffusion model is laid before it is known
    where the text will end.
    """

    prompts: tuple[int, ...]  # tokens
    answers: tuple[int, ...]  # tokens
    steps_per_token: float = 1.0

    def draw(self, count: int, rate: float, seed: int) -> Requests:
        """Requests at `rate` a second; another rate moves the same requests apart or together."""
        random = np.random.default_rng(seed)
        gaps = random.exponential(size=count)
        prompts = random.choice(self.prompts, size=count)
        answers = random.choice(self.answers, size=count)
        steps = np.maximum(1, np.ceil(answers * self.steps_per_token)).astype(np.int64)
        return Requests(np.cumsum(gaps) / rate, prompts + answers, steps)


def lognormal(
    median: float, spread: float, low: int, high: int, count: int = 100
) -> tuple[int, ...]:
    """Lengths at the middle of each of `count` equal parts of a lognormal, kept in [low, high]."""
    normal = NormalDist(math.log(median), spread)
    lengths = (math.exp(normal.inv_cdf((i + 0.5) / count)) for i in range(count))
    return tuple(min(high, max(low, round(length))) for length in lengths)
