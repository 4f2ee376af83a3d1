"""The simulation against queueing theory, and against itself step by step."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from focore.serve.simulate import (
    GPU,
    LLADA_8B,
    Counted,
    Linear,
    Outcome,
    Replica,
    Requests,
    Service,
    Traffic,
    alone,
    capacity,
    latencies,
    lognormal,
    p95,
    simulate,
    smallest,
)
from focore.serve.simulate.fleet import Cost

SECOND = Linear(1.0, 0.0)  # a step takes a second, whatever is in it
MIXED = Traffic(lognormal(60, 0.7, 8, 300), (16, 32, 64), steps_per_token=0.9)
BATCHED = Service(MIXED, Linear(0.004, 2e-5), rows=8)


def stepwise(requests: Requests, cost: Cost, rows: int) -> list[float]:
    """One replica, one step after the other: what the jumps must equal."""
    waiting = list(range(len(requests)))
    left: dict[int, int] = {}
    finished = [math.nan] * len(requests)
    now = 0.0
    while waiting or left:
        if not left:
            now = max(now, float(requests.arrival[waiting[0]]))
        while waiting and len(left) < rows and requests.arrival[waiting[0]] <= now:
            name = waiting.pop(0)
            left[name] = int(requests.steps[name])
        now += cost(len(left), max(int(requests.length[name]) for name in left))
        left = {name: steps - 1 for name, steps in left.items()}
        for name in [name for name, steps in left.items() if not steps]:
            finished[name] = now
            del left[name]
    return finished


@pytest.mark.parametrize("rows", [1, 3, 8])
@pytest.mark.parametrize("rate", [0.5, 4.0, 30.0])
def test_jumps_equal_single_steps(rows: int, rate: float) -> None:
    requests = MIXED.draw(200, rate, seed=1)
    cost = Linear(0.004, 2e-5)
    jumped = simulate(requests, cost, rows, replicas=1).latency + requests.arrival
    np.testing.assert_allclose(jumped, stepwise(requests, cost, rows), rtol=1e-9)


def one_second_each(load: float, count: int, replicas: int = 1, seed: int = 0) -> Outcome:
    requests = Traffic((0,), (1,)).draw(count, load * replicas, seed)
    return simulate(requests, SECOND, rows=1, replicas=replicas, seed=seed)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_waiting_of_a_queue_with_fixed_service(load: float) -> None:
    """M/D/1: the mean wait is load / 2 (1 - load) services (Pollaczek and Khinchine)."""
    waited = one_second_each(load, 150_000).latency.mean() - 1
    assert waited == pytest.approx(load / (2 * (1 - load)), rel=0.03)


def test_waiting_behind_two_choices() -> None:
    """Exponential service: the mean time is the sum of load^(2^i - 2) (Mitzenmacher)."""
    load, count, replicas = 0.8, 120_000, 100
    requests = Traffic((0,), (1,)).draw(count, load * replicas, seed=3)
    steps = np.ceil(np.random.default_rng(4).exponential(scale=200, size=count)).astype(np.int64)
    drawn = Requests(requests.arrival, requests.length, steps)
    found = simulate(drawn, Linear(1 / 200, 0.0), rows=1, replicas=replicas).latency[count // 5 :]
    expected = sum(load ** (2**i - 2) for i in range(1, 8))
    assert found.mean() == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("replicas", [1, 5])
def test_utilisation_is_rate_times_service(replicas: int) -> None:
    outcome = one_second_each(0.7, 40_000 * replicas, replicas)
    lasted = 40_000 / 0.7
    np.testing.assert_allclose(outcome.busy / lasted, 0.7, rtol=0.03)
    assert outcome.busy.sum() == pytest.approx(40_000 * replicas)


def test_littles_law() -> None:
    """Poisson arrivals see the mean number of requests in the system: rate x mean latency."""
    rate, finished = 0.9 * capacity(BATCHED), {}
    requests = MIXED.draw(20_000, rate, seed=2)
    replica = Replica(BATCHED.cost, BATCHED.rows, finished.__setitem__)
    seen = []
    asked = zip(requests.arrival, requests.length, requests.steps, strict=True)
    for name, (arrival, length, steps) in enumerate(asked):
        replica.advance(arrival)
        seen.append(len(replica))
        replica.offer(arrival, name, length, steps)
    replica.advance(math.inf)
    mean = np.mean([finished[name] - requests.arrival[name] for name in range(len(requests))])
    assert np.mean(seen) == pytest.approx(rate * mean, rel=0.03)
    assert max(seen) > BATCHED.rows  # there was a queue


def test_no_request_is_lost_or_hurried() -> None:
    requests = MIXED.draw(5000, 200.0, seed=5)
    outcome = simulate(requests, BATCHED.cost, BATCHED.rows, replicas=3)
    least = [
        steps * BATCHED.cost(1, length)
        for length, steps in zip(requests.length.tolist(), requests.steps.tolist(), strict=True)
    ]
    assert np.isfinite(outcome.latency).all()
    assert (outcome.latency >= np.array(least) * (1 - 1e-9)).all()


def test_a_free_place_is_waited_for_one_step_at_most() -> None:
    requests = Traffic((0,), (7,)).draw(3000, 2.0, seed=6)
    latency = simulate(requests, SECOND, rows=1000, replicas=1).latency
    assert latency.min() == pytest.approx(7) and latency.max() <= 8
    assert latency.mean() == pytest.approx(7.5, abs=0.05)


def test_same_seed_same_latencies() -> None:
    first, again = (latencies(BATCHED, 40.0, 3, seed=7) for _ in range(2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, latencies(BATCHED, 40.0, 3, seed=8))


def test_more_replicas_or_fewer_requests_are_faster() -> None:
    by_fleet = [p95(BATCHED, 60.0, replicas) for replicas in (2, 3, 4, 6, 12, 48)]
    assert all(more > less for more, less in pairwise(by_fleet))
    by_rate = [p95(BATCHED, rate, 4) for rate in (10.0, 40.0, 80.0, 120.0)]
    assert all(less < more for less, more in pairwise(by_rate))
    assert by_fleet[-1] >= alone(BATCHED) * 0.98


def test_a_slice_stands_for_a_large_fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    """128 of 512 replicas at a quarter of the rate have the p95 of all, or a little more."""
    rate = 0.85 * capacity(BATCHED) * 512
    thinned = p95(BATCHED, rate, 512)
    monkeypatch.setattr("focore.serve.simulate.plan.SLICE", 512)
    whole = p95(BATCHED, rate, 512)
    assert 0.99 < thinned / whole < 1.04


@pytest.mark.parametrize("rate", [1.0, 100.0, 10_000.0])
def test_the_smallest_fleet(rate: float) -> None:
    target = 1.5 * alone(BATCHED)
    found = smallest(BATCHED, rate, target)
    assert found is not None
    assert p95(BATCHED, rate, found) <= target
    enough = 0.9 * capacity(BATCHED) * int(found * 0.99) > rate
    assert not enough or p95(BATCHED, rate, int(found * 0.99)) > target


def test_a_target_below_an_idle_replica_has_no_fleet() -> None:
    assert smallest(BATCHED, 1.0, 0.9 * alone(BATCHED)) is None


def test_capacity_is_where_a_replica_falls_behind() -> None:
    """Rows always full and of one length: rows over the seconds of all steps of a request."""
    service = Service(Traffic((40,), (24,)), Linear(0.01, 1e-5), rows=4)
    assert capacity(service) == pytest.approx(4 / (24 * (0.01 + 1e-5 * 4 * 64)), rel=1e-3)


def test_the_line_through_measured_steps() -> None:
    tokens = [10, 100, 400, 1000, 3000]
    fitted = Linear.fit(tokens, [0.003 + 2e-6 * n for n in tokens])
    assert (fitted.fixed, fitted.per_token) == pytest.approx((0.003, 2e-6))


def test_lengths_follow_the_distribution() -> None:
    lengths = lognormal(100, 0.5, 20, 400, count=1001)
    assert lengths[500] == 100 and min(lengths) >= 20 and max(lengths) <= 400
    assert math.log(lengths[841] / 100) == pytest.approx(0.5, abs=0.01)  # one deviation up


def test_operations_are_those_that_torch_counts() -> None:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    from focore.model.transformer import Config, Transformer

    config = Config(64, 3, 4, 4, 96, 50, 128, 49)
    model = Transformer(config).requires_grad_(False)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        hidden = model(torch.zeros(2, 10, dtype=torch.long))
        model.head(hidden[0, :5])
    assert Counted(config).flops(2, 10, 5) == counter.get_total_flops()


def test_weights_are_those_of_the_8b_model() -> None:
    import torch

    from focore.model.transformer import Transformer

    with torch.device("meta"):
        model = Transformer(LLADA_8B)
    read = [p for name, p in model.named_parameters() if "norm" not in name and "embed" not in name]
    assert Counted(LLADA_8B).traffic(0, 0, 0) == 2 * sum(p.numel() for p in read)
    assert sum(p.numel() for p in model.parameters()) == 8_015_581_184


def test_a_pass_takes_the_longer_of_compute_and_memory() -> None:
    cost = Counted(LLADA_8B)
    weights = cost.traffic(0, 0, 0) / (GPU.bandwidth * GPU.bandwidth_share)
    assert cost.seconds(1, 8, 8) == pytest.approx(weights, rel=0.02)  # short: reading the weights
    compute = cost.flops(4, 512, 64) / (GPU.flops * GPU.compute_share)
    assert cost.seconds(4, 512, 64) == compute
    twice = Counted(LLADA_8B, passes=2, scored=True)
    assert 2 * cost(1, 512) < twice(1, 512) < 2.2 * cost(1, 512)
