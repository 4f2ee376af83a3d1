"""Predictions: the head where it is asked for."""

from __future__ import annotations

import pytest
import torch

from focore.model.denoiser import Prediction, positionwise
from focore.model.head import CHUNK, TILE, Head, best_of


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("k", [1, 7, 50])
def test_logits_of_some_tokens(dtype: torch.dtype, k: int) -> None:
    torch.manual_seed(0)
    head = Head(torch.randn(50, 16).to(dtype))
    prediction = Prediction(torch.randn(2, 5, 16).to(dtype), torch.ones(2, 5).bool(), head)
    row, position = torch.tensor([0, 1, 1]), torch.tensor([4, 0, 3])
    tokens = torch.stack([torch.randperm(50)[:k] for _ in range(3)])
    expected = prediction.logits(row, position).gather(1, tokens)
    found = prediction.logits_of(row, position, tokens)
    tolerance = 0.1 if dtype == torch.bfloat16 else 1e-5
    assert found.dtype == expected.dtype and torch.allclose(found, expected, atol=tolerance)
    assert prediction.logits_of(row[:0], position[:0], tokens[:0]).shape == (0, k)


@pytest.mark.parametrize("n", [1, 5, 16, 33])
@pytest.mark.parametrize("vocabulary", [50, 4 * TILE, 5 * TILE + 32, 5 * TILE + 33])
def test_the_head_in_tiles(vocabulary: int, n: int) -> None:
    torch.manual_seed(0)
    head, hidden = Head(torch.randn(vocabulary, 16)), torch.randn(n, 16)
    whole = hidden @ head.weight.T
    assert torch.allclose(head(hidden), whole, atol=1e-4)
    for k in (1, 7, 50):
        found = head.top(hidden, k)
        expected = whole.topk(k).indices.sort(dim=1).values
        assert torch.equal(found.tokens.sort(dim=1).values, expected)
        assert torch.allclose(found.values, whole.gather(1, found.tokens), atol=1e-4)
        assert torch.allclose(found.log_total, whole.logsumexp(dim=1), atol=1e-4)


@pytest.mark.parametrize("vocabulary", [50, 4 * TILE, 4 * TILE + 1])
def test_the_best_token_is_the_first_of_equals(vocabulary: int) -> None:
    torch.manual_seed(0)
    logits = torch.randint(0, 9, (20, vocabulary)).float()
    logits[3] = -torch.inf
    assert torch.equal(best_of(logits), logits.argmax(dim=1))
    logits[5, 33] = torch.nan
    assert best_of(logits)[5] == 33
    assert best_of(logits[:0]).shape == (0,)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize("with_head", [True, False])
def test_the_top_logits_of_a_prediction(dtype: torch.dtype, with_head: bool) -> None:
    """From a head and from whole logits, in float32 at least."""
    torch.manual_seed(0)
    row, position = torch.tensor([0, 1, 1]), torch.tensor([4, 0, 3])
    head = Head(torch.randn(50, 16).to(dtype)) if with_head else None
    prediction = Prediction(torch.randn(2, 5, 16).to(dtype), torch.ones(2, 5).bool(), head)
    logits = prediction.logits(row, position)
    values, tokens, log_total = prediction.top(row, position, 7)
    assert values.dtype == log_total.dtype == logits.dtype
    assert torch.equal(values.sort(descending=True).values, logits.topk(7).values)
    assert torch.equal(logits.gather(1, tokens), values)
    assert torch.allclose(log_total, logits.logsumexp(dim=1))


def test_positions_are_measured_in_bounded_pieces() -> None:
    where = torch.zeros(3, 40, dtype=torch.bool)
    where[0, :17] = where[2, 5:] = True
    sizes = []

    def measure(row: torch.Tensor, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        sizes.append(len(row))
        return row * 100 + position, position.float()

    vocabulary = CHUNK // 10
    both, alone = positionwise(where, vocabulary, measure)
    assert max(sizes) == 10 and sum(sizes) == int(where.sum())
    expected = torch.arange(3)[:, None] * 100 + torch.arange(40)
    assert torch.equal(both, torch.where(where, expected, 0))
    assert alone.dtype == torch.float32
    (nothing,) = positionwise(torch.zeros_like(where), vocabulary, lambda r, p: (r.float(),))
    assert nothing.shape == where.shape and not nothing.any()
