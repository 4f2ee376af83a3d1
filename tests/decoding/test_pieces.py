"""Scores, schedules and commits one by one, at the edges of their rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from focore.canvas import Canvas, continuation
from focore.decoding.commit import Choice, Factor, Threshold
from focore.decoding.noise import Noise
from focore.decoding.sampler import Proposal
from focore.decoding.schedules import even, released
from focore.decoding.scores import Candidates, entropy, margin, random

MASK, HERE = 10, torch.device("cpu")
NOTHING: Any = None  # what these pieces do not look at


def canvas_of(rows: int, length: int, steps: int) -> Canvas:
    """Rows of nothing but masks, in one block."""
    row = continuation([], length, length, steps, MASK, {})
    return Canvas.lay([row] * rows, HERE)


def chosen(piece: Threshold | Factor, sure: list[list[float]]) -> list[list[int]]:
    """The positions that a piece commits in each row, given how sure they are."""
    probability = torch.tensor(sure)

    def propose(where: Tensor) -> Proposal:
        return Proposal(torch.zeros_like(where, dtype=torch.long), probability, probability)

    canvas = canvas_of(len(sure), len(sure[0]), steps=len(sure[0]))
    choice = cast(Choice, piece(canvas, NOTHING, propose, NOTHING))
    return [row.nonzero()[:, 0].tolist() for row in choice.where]


def candidates(logits: list[float], token: int) -> Candidates:
    values = torch.tensor([logits])
    total = values.logsumexp(dim=1)
    probability = (values[:, token] - total).exp()
    return Candidates(torch.tensor([0]), values, total, torch.tensor([token]), probability)


@pytest.mark.parametrize(("token", "other"), [(0, 1), (1, 0), (3, 0)])
def test_margin_is_the_lead_over_the_best_other_token(token: int, other: int) -> None:
    logits = [2.0, 1.0, 0.0, -1.0]
    p = torch.tensor(logits).softmax(dim=0)
    found = margin(candidates(logits, token), cast(Noise, None))
    torch.testing.assert_close(found, (p[token] - p[other])[None])


def test_entropy_is_negative_and_takes_impossible_tokens() -> None:
    """0 log 0 is 0: what is cut or suppressed adds nothing."""
    found = entropy(candidates([1.0, 0.0, -torch.inf], 0), cast(Noise, None))
    p = torch.tensor([1.0, 0.0]).softmax(dim=0)
    torch.testing.assert_close(found, (p * p.log()).sum()[None])


def test_a_threshold_is_reached_when_it_is_met() -> None:
    assert chosen(Threshold(even, 0.5), [[0.5, 0.25, 0.75]]) == [[0, 2]]
    assert chosen(Threshold(even, 1.0), [[1.0, 0.5, 1.0]]) == [[0, 2]]


def test_each_row_has_a_count_of_its_own() -> None:
    sure = [[0.875, 0.875, 0.1, 0.1], [0.1, 0.875, 0.1, 0.1], [0.1, 0.1, 0.2, 0.1]]
    assert chosen(Threshold(even, 0.8), sure) == [[0, 1], [1], [2]]
    assert chosen(Factor(even, 0.5), sure) == [[0, 1], [1], [2]]


def test_factor_counts_the_first_rank_twice() -> None:
    """(r + 1)(1 - p) is 0.25 and 0.75 for the first two ranks."""
    sure = [[0.75, 0.875, 0.0]]
    assert chosen(Factor(even, 0.25), sure) == [[1]]
    assert chosen(Factor(even, 0.5), sure) == [[1]]
    assert chosen(Factor(even, 0.75), sure) == [[0, 1]]
    assert chosen(Factor(even, 0.0), [[1.0, 0.5, 1.0]]) == [[0, 2]]


def test_dreams_schedule_releases_everything_from_its_last_step_on() -> None:
    canvas = canvas_of(rows=1, length=8, steps=4)
    shares = [
        float(released(replace(canvas, block_step=torch.tensor([step])))[0]) for step in range(6)
    ]
    assert shares == pytest.approx([0.25, 1 / 3, 0.5, 1, 1, 1], abs=2e-3)
    assert all(0 < share < 1 for share in shares[:3]) and shares[3:] == [1.0, 1.0, 1.0]


def test_the_random_order_draws_one_number_a_candidate() -> None:
    """So a seed keeps its order, whatever is drawn later from the same row."""
    row, probability = torch.tensor([0, 0, 1]), torch.tensor([0.5, 0.2, 0.1])
    found = Candidates(row, torch.zeros(3, 4), torch.zeros(3), torch.zeros(3).long(), probability)
    first, second = (torch.Generator().manual_seed(seed) for seed in (7, 8))
    wide = torch.float64
    both = torch.rand(2, generator=first, dtype=wide), torch.rand(1, generator=second, dtype=wide)
    score = random(found, Noise.seeded([7, 8], [2, 2], HERE))
    assert score.dtype == probability.dtype and torch.equal(score, torch.cat(both).float())
