"""What `benchmarks.scaling` does beside simulating: timing steps, sending requests, tables."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.costs import Step, decode, laid, planned, summary
from benchmarks.load import compare, drawn, overhead, send
from benchmarks.tables import MISSING, TABLES, fill
from focore.loading import Model
from focore.serve.simulate import Linear, Service, Traffic
from tests.serve.live import Live

DOCS = Path(__file__).parents[2] / "docs"
PROMPTS = ["Ann has four.", "Bob has five red apples.", "Who?"]


def test_steps_of_the_engine_are_timed_with_their_shape(model: Model) -> None:
    plan = planned(model, "confidence", 6)
    steps, taken = asyncio.run(decode(plan, PROMPTS))
    longest = max(len(row.tokens) for row in laid(plan, PROMPTS))
    assert [(step.rows, step.longest) for step in steps] == [(3, longest)] * 6
    assert taken == 18
    assert all(step.seconds > 0 for step in steps)


def test_rows_that_have_left_are_not_counted(model: Model) -> None:
    steps, taken = asyncio.run(decode(planned(model, "focore_a", 40), PROMPTS))
    assert taken == sum(step.rows for step in steps)


def test_the_line_goes_through_the_means() -> None:
    shapes = [(1, 40), (8, 60), (32, 90)]
    steps = [
        Step(rows, longest, 0.002 + 1e-6 * rows * longest + noise)
        for rows, longest in shapes
        for noise in (-1e-4, 1e-4)
    ]
    found = summary(steps)
    assert (found["fixed"], found["per_token"]) == pytest.approx((0.002, 1e-6))
    assert found["steps"] == 6 and found["worst"] < 1e-6


def test_a_real_server_gets_the_requests_that_are_simulated(live: Live, model: Model) -> None:
    service = Service(Traffic((8,), (4, 6)), Linear(1e-6, 0.0), rows=32)
    trace = drawn(model, service, "confidence", rate=50.0, count=6)
    seconds = asyncio.run(send(live.url, "small", "confidence", trace))
    assert seconds.shape == (6,) and (seconds > 0).all()
    assert (
        overhead(live.url, live.model, service, "confidence") > 0
    )  # its steps cost next to nothing
    before = live.count("focore_rows_total", end="done")
    found = compare(live.url, live.model, service, "confidence", rate=50.0, seconds=0.5)
    assert live.count("focore_rows_total", end="done") - before == found["requests"] == 25
    assert 0 < found["predicted_mean"] <= found["predicted_p95"]
    assert found["measured_mean"] > 0


def test_the_same_requests_again(model: Model) -> None:
    service = Service(Traffic((8,), (4, 6)), Linear(0.001, 1e-6), rows=32)
    first, again = (drawn(model, service, "focore", 9.0, 20) for _ in range(2))
    assert first.prompts == again.prompts and set(first.answers) == {4, 6}
    np.testing.assert_array_equal(first.requests.arrival, again.requests.arrival)
    lengths = [
        len(laid(planned(model, "focore", n), [prompt])[0].tokens)
        for prompt, n in zip(first.prompts, first.answers, strict=True)
    ]
    assert first.requests.length.tolist() == lengths
    assert first.requests.steps.tolist() == first.answers


def test_the_page_is_what_the_results_say() -> None:
    page = (DOCS / "scaling.md").read_text()
    found = json.loads((DOCS / "scaling.json").read_text())
    assert fill(page, found) == page


def test_tables_are_written_between_their_marks() -> None:
    page = "a\n" + "\n".join(f"<!-- {name}:begin -->\nold\n<!-- {name}:end -->" for name in TABLES)
    assert fill(page, {}).count(MISSING) == len(TABLES)
    plan = {"target": 1.0, "alone": 0.25, "capacity": 12.3, "replicas": {"1": 1, "10": None}}
    made = fill(page, {"tiny": {"focore": plan | {"replicas": {"1": 1, "100": 12_345}}}})
    assert made.startswith("a\n") and "old" not in made
    assert "| `focore` | 250 ms | 12.3 | 1 | 12,400 |" in made
    assert "| 1 | none can |" in fill(page, {"tiny": {"focore": plan}})
    with pytest.raises(SystemExit, match="no place for"):
        fill("nothing here", {})
