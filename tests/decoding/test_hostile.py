"""Every method ends, whatever the model predicts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import focore
from tests.support import constant, known_model

METHODS = [name for name in focore.METHODS if name not in ("mask_hd", "mask_ld")]


def always_mask(tokens: Tensor) -> Tensor:
    logits = torch.zeros(*tokens.shape, 12)
    logits[..., 10] = 50.0
    return logits


def wild(tokens: Tensor) -> Tensor:
    """-inf in most places and very large values, other ones for other contexts."""
    logits = torch.full((*tokens.shape, 12), -torch.inf)
    logits[..., 3] = 1e30
    logits[..., 4] = 1e30 * (tokens == 10).sum(dim=-1, keepdim=True)
    logits[..., 5] = -1e30
    return logits


HOSTILE = {"mask": always_mask, "constant": constant([1.0] * 12), "wild": wild}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE.keys())
def test_it_ends_without_masks(answer: Callable[[Tensor], Tensor], method: str) -> None:
    model = known_model(answer)
    for temperature in (0.0, 1.0):
        made = focore.generate(
            model, [[1, 2], [3]], method=method, gen_length=9, block_length=4, steps=7,
            temperature=temperature, top_p=0.9,
        )  # fmt: skip
        for completion in made:
            assert len(completion.tokens) == 9 and 10 not in completion.tokens
            assert completion.steps <= 7


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_what_is_not_a_number_is_an_error(value: float, method: str) -> None:
    def spoilt(tokens: Tensor) -> Tensor:
        logits = torch.zeros(*tokens.shape, 12)
        logits[:, -1, 7] = value
        return logits

    with pytest.raises(focore.DecodingError, match="not finite"):
        focore.generate(known_model(spoilt), [1, 2], method=method, gen_length=4)


def test_a_second_pass_that_is_not_a_number_is_an_error() -> None:
    def spoilt(tokens: Tensor) -> Tensor:
        hidden = (tokens[:, :1] == 10).float()[..., None]
        return torch.where(hidden > 0, torch.nan, torch.zeros(*tokens.shape, 12))

    with pytest.raises(focore.DecodingError, match="not finite"):
        focore.generate(known_model(spoilt), [1, 2], method="cfg", gen_length=4)


def test_a_method_that_does_nothing_is_stopped() -> None:
    from dataclasses import dataclass

    from focore.decoding.commit import Choice
    from focore.decoding.method import Method

    @dataclass(frozen=True)
    class Lazy:
        def start(self) -> Lazy:
            return self

        def __call__(self, canvas, guided, propose, noise):  # type: ignore[no-untyped-def]
            return Choice(torch.zeros_like(canvas.open), propose(canvas.open))

    lazy = Method("lazy", "does nothing", "none", lambda c: c.compose(commit=Lazy()))
    focore.METHODS["lazy"] = lazy
    try:
        with pytest.raises(focore.DecodingError, match="still has masks"):
            focore.generate(known_model(always_mask), [1], method="lazy", gen_length=4)
    finally:
        del focore.METHODS["lazy"]


def test_a_token_impossible_in_both_passes_stays_impossible() -> None:
    model = known_model(constant([0.0] * 9 + [-torch.inf, -5.0, -torch.inf]))
    made = focore.generate(model, [1, 2], method="cfg", gen_length=6, temperature=2.0)
    assert not {9, 11} & set(made.tokens)
