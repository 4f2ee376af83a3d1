"""Rows come and go between steps."""

from __future__ import annotations

import torch

import focore
from focore.canvas import Canvas, continuation
from focore.decoding.commit import TopK
from focore.decoding.schedules import even
from focore.generation import Plan, Runner, finish, row_seeds
from focore.model.denoiser import Prediction
from focore.rows import join, resize, take
from tests.support import Known, constant, known_model, random_model

MODEL = random_model()


def test_a_row_joins_a_run_midway() -> None:
    plan = Plan.make(MODEL, "focore_a", 0, {"gen_length": 12, "block_length": 4})
    prompts = [[1, 2, 3], [4, 5, 6, 7, 8, 9], [10]]
    rows = [plan.continuation(prompt, None) for prompt in prompts]
    seeds = row_seeds(0, rows)
    runner, found = Runner(plan), {}
    runner.admit(rows[:1], seeds[:1], [0])
    for count in range(40):
        if count in (3, 5):
            name = 1 if count == 3 else 2
            runner.admit([rows[name]], [seeds[name]], [name])
        if not len(runner.batch):
            break
        step = runner.batch.step()
        for place, (row, done) in enumerate(
            zip(step.row.tolist(), step.done.tolist(), strict=True)
        ):
            if done:
                found[row] = step.tokens[place, : len(rows[row].tokens)].tolist()
    alone = [focore.generate(MODEL, p, method="focore_a", gen_length=12, block_length=4)
             for p in prompts]  # fmt: skip
    assert [found[i][len(prompts[i]) :] for i in range(3)] == [c.tokens for c in alone]


def test_a_finished_row_makes_place_at_once() -> None:
    """Rows of 2, 8 and 8 steps in a batch of two: ten rounds of passes, not sixteen."""
    model = known_model(constant([9.0] + [0.0] * 11))
    assert isinstance(model.denoiser, Known)
    prompts = [[1, 2], [3], [4]]
    options = {"gen_length": 8}
    focore.generate(model, prompts, method="confidence", batch_size=2, **options)
    assert model.denoiser.calls == 16
    model.denoiser.calls = 0
    plan = Plan.make(model, "confidence", 0, options)
    rows = [plan.continuation(prompt, None) for prompt in prompts]
    short = continuation([1, 2], 8, 32, 2, 10, {})
    tallies = finish(plan, [short, *rows[1:]], 2)
    assert [tally.steps for tally in tallies] == [2, 8, 8]
    assert model.denoiser.calls == 10


def test_the_canvas_shrinks_when_the_longest_row_leaves() -> None:
    plan = Plan.make(MODEL, "confidence", 0, {"gen_length": 4})
    long, short = continuation([1] * 20, 4, 4, 1, 38, {}), continuation([2], 4, 4, 4, 38, {})
    runner = Runner(plan)
    runner.admit([long, short], [1, 2], [0, 1])
    assert runner.batch.step().tokens.shape == (2, 24)
    assert runner.batch.step().tokens.shape == (1, 5)


def test_rows_without_masks_do_not_run() -> None:
    plan = Plan.make(MODEL, "confidence", 0, {"gen_length": 2, "fixed": {0: [5, 6]}})
    runner = Runner(plan)
    runner.admit([plan.continuation([1], None)], [0], [0])
    assert len(runner.batch) == 0
    made = focore.generate(MODEL, [1], gen_length=2, fixed={0: [5, 6]})
    assert made.tokens == [5, 6] and made.steps == made.passes == 0


def test_picking_joining_and_resizing() -> None:
    memory = {"a": torch.arange(6).view(3, 2), "b": [torch.arange(3)], "c": TopK(even), "d": "text"}
    picked = take(memory, torch.tensor([2, 0]))
    assert picked["a"].tolist() == [[4, 5], [0, 1]] and picked["b"][0].tolist() == [2, 0]
    both = join([picked, {"a": None, "b": None, "c": None}], [2, 1])
    assert both["a"].tolist() == [[4, 5], [0, 1], [0, 0]] and both["d"] == "text"
    assert both["b"][0].tolist() == [2, 0, 0] and both["c"] == TopK(even)
    assert resize(memory, 3)["a"].tolist() == [[0, 1, 0], [2, 3, 0], [4, 5, 0]]
    assert resize(memory, 1)["a"].tolist() == [[0], [2], [4]]
    assert resize(memory, 1)["b"][0].tolist() == [0, 1, 2]


def test_a_canvas_resizes_and_joins() -> None:
    short = Canvas.lay([continuation([1], 4, 2, 4, 38, {})], torch.device("cpu"))
    longer = short.resize(8)
    assert longer.padded and longer.block.tolist() == [[-1, 0, 0, 1, 1, -1, -1, -1]]
    assert longer.resize(5).tokens.tolist() == short.tokens.tolist()
    assert not longer.resize(5).padded
    one = Canvas.lay([continuation([1, 2, 3, 4], 4, 4, 2, 38, {})], torch.device("cpu"))
    both = join([longer, one], [1, 1])
    assert both.budget.tolist() == [[2, 2], [2, 0]] and both.padded
    assert both.current.tolist() == [0, 0]


def test_predictions_of_some_rows() -> None:
    hidden = torch.arange(6.0).view(3, 1, 2)
    whole = Prediction(hidden, torch.ones(3, 1, dtype=torch.bool), None)
    part = Prediction(-hidden[:1], torch.zeros(1, 1, dtype=torch.bool), None)
    spread = part.spread(torch.tensor([1]), whole)
    assert spread.hidden[:, 0, 0].tolist() == [0.0, 0.0, 4.0]
    assert spread.known[:, 0].tolist() == [True, False, True]
    joined = part.beside(take(whole, torch.tensor([0, 1])), torch.tensor([1]), torch.tensor([0, 2]))
    assert joined.hidden[:, 0, 1].tolist() == [1.0, -1.0, 3.0]
