"""The Monte-Carlo likelihood against exact values."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from focore import OptionError
from focore.evaluate.likelihood import Estimate, _masks
from tests.support import constant, known_model, random_model

VALUES = [0.3 * i for i in range(12)]


def log_p(token: int) -> float:
    return float(torch.tensor(VALUES).log_softmax(0)[token])


def test_one_token_is_exact() -> None:
    model = known_model(constant(VALUES))
    value, greedy = Estimate()(model, [1, 2], [7])
    assert value == pytest.approx(log_p(7), rel=1e-6)
    assert not greedy
    assert Estimate()(model, [1, 2], [9])[1] is False  # 11 is the best token
    assert Estimate()(model, [1, 2], [11])[1] is True
    assert model.denoiser.calls == 6  # one draw each, and one step of decoding


def test_equal_tokens_are_exact() -> None:
    value, _ = Estimate(samples=16)(known_model(constant(VALUES)), [1], [7] * 9)
    assert value == pytest.approx(9 * log_p(7), rel=1e-5)


def test_estimates_come_close_to_the_mean_over_all_masks() -> None:
    model = random_model()
    prompt, target = [3, 4, 5], [6, 7, 8]
    total = 0.0
    for size in (1, 2, 3):
        subsets = list(itertools.combinations(range(3), size))
        for subset in subsets:
            tokens = [*prompt, *(38 if i in subset else t for i, t in enumerate(target))]
            logits = model.logits([tokens])[0].log_softmax(-1)
            loss = sum(float(logits[3 + i, target[i]]) for i in subset)
            total += loss * 3 / size / len(subsets) / 3
    value, _ = Estimate(samples=2048, check_greedy=False)(model, prompt, target)
    assert value == pytest.approx(total, rel=0.05)


def test_seeded_and_stratified() -> None:
    model = random_model()
    first = Estimate(64, 1, False)(model, [3], [6, 7, 8, 9])
    assert first == Estimate(64, 1, False)(model, [3], [6, 7, 8, 9])
    assert first != Estimate(64, 2, False)(model, [3], [6, 7, 8, 9])
    for length in (1, 3, 16, 40):
        sizes = sorted(_masks(16, length, torch.Generator().manual_seed(0)).sum(dim=1).tolist())
        assert sizes[0] >= 1 and sizes[-1] <= length
        assert all(b - a <= math.ceil(length / 16) for a, b in itertools.pairwise(sizes))


def test_greedy_follows_decoding() -> None:
    def likes_the_position(tokens: Tensor) -> Tensor:
        logits = torch.zeros(*tokens.shape, 12)
        for place in range(tokens.shape[1]):
            logits[:, place, place % 10] = 5.0
        return logits

    model = known_model(likes_the_position)
    assert Estimate(16)(model, [9], [1, 2, 3, 4])[1] is True
    assert Estimate(16)(model, [9], [1, 2, 2, 4])[1] is False
    assert Estimate(16, 0, False)(model, [9], [1, 2, 3, 4])[1] is False


def test_limits() -> None:
    model = known_model(constant(VALUES), max_length=4)
    assert Estimate()(model, [1, 2, 3, 4, 5, 6], [7])[0] == pytest.approx(log_p(7), rel=1e-6)
    assert Estimate()(model, [1], []) == (0.0, True)
    with pytest.raises(OptionError, match="a text of 5 tokens"):
        Estimate()(model, [], [1] * 5)
    with pytest.raises(OptionError, match="samples=0"):
        Estimate(samples=0)
