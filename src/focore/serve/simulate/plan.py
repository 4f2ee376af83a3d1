"""The smallest fleet that keeps a p95, at any rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .fleet import Cost, simulate
from .traffic import Traffic

SLICE = 128  # replicas that are simulated of a larger fleet
WARM_UP = 0.2  # share of the requests that come before any is counted
REQUESTS, TURNS = 4000, 100  # at least so many requests in all, and for each replica
HEADROOM = 0.9  # share of the capacity that a plan may use


@dataclass(frozen=True)
class Service:
    """What is asked, and what one replica is."""

    traffic: Traffic
    cost: Cost
    rows: int  # decoded side by side
    overhead: float = 0.0  # seconds of a request outside its steps


def latencies(service: Service, rate: float, replicas: int, seed: int = 0) -> NDArray[np.float64]:
    """Seconds of the requests that come once the fleet is warm.

    Of a fleet larger than SLICE only so many replicas are simulated, at their share of the rate:
    with that many, a replica's queue depends on the rate for each replica and hardly on how many
    there are, because the router looks at two of them only. The slice errs to the slow side.
    """
    part = min(replicas, SLICE)
    count = max(REQUESTS, part * (TURNS + TURNS // 5 * service.rows))
    requests = service.traffic.draw(count, rate * part / replicas, seed)
    outcome = simulate(requests, service.cost, service.rows, part, seed)
    return outcome.latency[int(WARM_UP * count) :] + service.overhead


def p95(service: Service, rate: float, replicas: int, seed: int = 0) -> float:
    """Seconds within which 95 of 100 requests are answered."""
    return float(np.quantile(latencies(service, rate, replicas, seed), 0.95))


def alone(service: Service, seed: int = 0) -> float:
    """The p95 of requests that never meet: no fleet is faster."""
    asked = service.traffic.draw(REQUESTS, 1.0, seed)
    pairs = zip(asked.length.tolist(), asked.steps.tolist(), strict=True)
    seconds = [steps * service.cost(1, length) for length, steps in pairs]
    return float(np.quantile(seconds, 0.95)) + service.overhead


def capacity(service: Service, seed: int = 0) -> float:
    """Requests a second of one replica whose rows are always full."""
    count = max(REQUESTS, TURNS * service.rows)
    requests = service.traffic.draw(count, 1e9, seed)
    outcome = simulate(requests, service.cost, service.rows, 1, seed)
    done = np.sort(outcome.latency + requests.arrival)
    first, last = service.rows, count - service.rows  # neither filling nor emptying
    return float((last - first) / (done[last] - done[first]))


def smallest(service: Service, rate: float, target: float, seed: int = 0) -> int | None:
    """The fewest replicas with a p95 of `target` seconds at most, to half a percent; None if no
    fleet has it.

    Never fewer than the rate over HEADROOM of the capacity: near it a fleet takes longer to settle
    than any simulation lasts, and beyond it falls behind for good.
    """
    if alone(service, seed) >= target:
        return None
    low = int(rate / capacity(service, seed) / HEADROOM)  # too few
    high = low + 1
    while p95(service, rate, high, seed) > target:
        low, high = high, 2 * high
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        if p95(service, rate, middle, seed) > target:
            low = middle
        else:
            high = middle
    return high
