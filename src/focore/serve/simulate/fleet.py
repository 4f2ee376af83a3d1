"""Replicas with continuous batching, and a router that sends each request to one of them.

Exact at the level of steps, but not a loop over them: between two steps at which a row joins or
leaves, all steps of a replica cost the same, so it jumps from one such step to the next. A replica
is brought up to date only when the router looks at it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from .traffic import Requests

Cost = Callable[[int, int], float]  # (rows, tokens of the longest row) -> seconds of a step
Done = Callable[[int, float], None]  # (name of the request, time)


class Replica:
    """One engine: up to `limit` rows side by side, the others wait in the order they came."""

    def __init__(self, cost: Cost, limit: int, done: Done):
        self._cost, self._limit, self._done = cost, limit, done
        self._rows: list[tuple[int, int, int]] = []  # heap of (last step, name, length)
        self._queue: deque[tuple[float, int, int, int]] = deque()  # (arrival, name, length, steps)
        self._step = 0  # steps taken before `_since`
        self._since = 0.0  # when a row last joined or left
        self._each = 0.0  # seconds of a step since then
        self.busy = 0.0  # seconds spent in steps

    def __len__(self) -> int:
        return len(self._rows) + len(self._queue)

    def offer(self, arrival: float, name: int, length: int, steps: int) -> None:
        """Take a request; the replica must have been advanced to its arrival."""
        self._queue.append((arrival, name, length, steps))
        if not self._rows:
            self._go_on(arrival)

    def advance(self, until: float) -> None:
        """Take all steps that end by `until`."""
        while self._rows:
            steps = self._unchanged()
            end = self._since + steps * self._each
            if end > until:
                return
            self._step += steps
            self.busy += end - self._since
            while self._rows and self._rows[0][0] == self._step:
                self._done(heappop(self._rows)[1], end)
            self._go_on(end)

    def _unchanged(self) -> int:
        """Steps until a row leaves, or one that waits beside a free place can join."""
        steps = self._rows[0][0] - self._step
        if self._queue and len(self._rows) < self._limit:
            waited = self._queue[0][0] - self._since
            steps = min(steps, max(1, math.ceil(waited / self._each)))
        return steps

    def _go_on(self, time: float) -> None:
        while self._queue and len(self._rows) < self._limit:
            _, name, length, steps = self._queue.popleft()
            heappush(self._rows, (self._step + steps, name, length))
        self._since = time
        if self._rows:
            self._each = self._cost(len(self._rows), max(row[2] for row in self._rows))


@dataclass(frozen=True)
class Outcome:
    """What became of the requests."""

    latency: NDArray[np.float64]  # (n,) seconds from arrival to answer
    busy: NDArray[np.float64]  # (replicas,) seconds spent in steps


def simulate(requests: Requests, cost: Cost, rows: int, replicas: int, seed: int = 0) -> Outcome:
    """Serve all requests, each by the emptier of two random replicas, as Ray Serve does."""
    finished = np.full(len(requests), np.nan)
    fleet = [Replica(cost, rows, finished.__setitem__) for _ in range(replicas)]
    pairs = _pairs(len(requests), replicas, seed)
    asked = zip(
        requests.arrival.tolist(), requests.length.tolist(), requests.steps.tolist(), strict=True
    )
    for name, (arrival, length, steps) in enumerate(asked):
        one, other = fleet[pairs[name][0]], fleet[pairs[name][1]]
        one.advance(arrival)
        other.advance(arrival)
        chosen = other if len(other) < len(one) else one
        chosen.offer(arrival, name, length, steps)
    for replica in fleet:
        replica.advance(math.inf)
    return Outcome(finished - requests.arrival, np.array([each.busy for each in fleet]))


def _pairs(count: int, replicas: int, seed: int) -> list[list[int]]:
    """Two different replicas for each request, if there are two."""
    random = np.random.default_rng((seed, replicas))
    one = random.integers(replicas, size=count)
    other = (one + random.integers(1, max(2, replicas), size=count)) % replicas
    found: list[list[int]] = np.stack((one, other), axis=1).tolist()
    return found
