"""A contrast that spares its second pass: when, for whom, and at what count."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import focore
from tests.support import DREAM, LLADA, Known, constant, known_model, random_model

MODELS = [random_model(config, seed) for config in (LLADA, DREAM) for seed in range(2)]
METHODS = ["focore", "focore_a"]
PROMPTS = st.lists(
    st.lists(st.integers(0, 37), min_size=1, max_size=8), min_size=1, max_size=4, unique_by=tuple
)
RUNS = st.fixed_dictionaries(
    {
        "method": st.sampled_from(METHODS),
        "gen_length": st.integers(1, 14),
        "block_length": st.integers(1, 9),
        "temperature": st.sampled_from([0.0, 0.7]),
        "suppress_eos": st.booleans(),
        "cache": st.sampled_from(["none", "dual", "prefix"]),
    }
)


def key(made: focore.Completion) -> tuple[list[int], int, int]:
    return made.tokens, made.steps, made.passes


@settings(max_examples=40)
@given(st.sampled_from(MODELS), PROMPTS, RUNS)
def test_a_bound_that_nothing_exceeds_changes_nothing(
    model: focore.Model, prompts: list[list[int]], run: dict[str, Any]
) -> None:
    always = focore.generate(model, prompts, **run)
    never_sure = focore.generate(model, prompts, contrast="auto", contrast_bound=1.0, **run)
    assert list(map(key, never_sure)) == list(map(key, always))


@settings(max_examples=40)
@given(st.sampled_from(MODELS), PROMPTS, RUNS, st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8]))
def test_rows_spare_for_themselves(
    model: focore.Model, prompts: list[list[int]], run: dict[str, Any], bound: float
) -> None:
    """The same alone and among others that join midway, and never a pass more than always."""
    run = {**run, "contrast": "auto", "contrast_bound": bound}
    together = focore.generate(model, prompts, batch_size=2, **run)
    alone = [focore.generate(model, prompt, **run) for prompt in prompts]
    assert list(map(key, together)) == list(map(key, alone))
    assert all(made.steps <= made.passes <= 2 * made.steps for made in together)


def test_a_bound_of_zero_spares_every_second_pass() -> None:
    """What is left is plain confidence, one pass a step."""
    options = {"gen_length": 12, "block_length": 5}
    for model in MODELS:
        plain = focore.generate(model, [1, 2, 3], method="confidence", **options)
        made = focore.generate(model, [1, 2, 3], contrast="auto", contrast_bound=0.0, **options)
        assert key(made) == key(plain)


def frames(model: focore.Model, **options: Any) -> list[focore.Frame]:
    return list(focore.stream(model, [1, 2, 3], contrast="auto", tie_noise=0.0, **options))


def test_the_second_pass_is_spared_exactly_where_the_surest_mask_is_sure() -> None:
    spared = 0
    for model in MODELS:
        canvas = [1, 2, 3] + [model.mask_id] * 10
        for frame in frames(model, gen_length=10, contrast_bound=0.5):
            p = model.logits([canvas])[0].softmax(dim=-1)
            p[:, model.mask_id] = 0
            masks = [i for i, token in enumerate(canvas) if token == model.mask_id]
            sure = max(p[i].max().item() for i in masks) > 0.5
            assert frame.passes == (1 if sure else 2)
            assert any(frame.notes["hidden"]) is not sure
            canvas, spared = frame.tokens, spared + sure
    assert 0 < spared < 40


def certain_at(position: int) -> focore.Model:
    """Sure of token 1 at one position, of nothing anywhere else."""

    def answer(tokens: torch.Tensor) -> torch.Tensor:
        logits = torch.zeros(*tokens.shape, 12)
        logits[:, position, 1] = 20.0
        return logits

    return known_model(answer)


def test_all_positions_of_a_step_must_be_sure() -> None:
    one = frames(certain_at(5), gen_length=8, steps=8)
    two = frames(certain_at(5), gen_length=8, steps=4)
    assert [frame.passes for frame in one] == [1] + [2] * 7
    assert [frame.passes for frame in two] == [2] * 4


@pytest.mark.parametrize(("burst", "passes"), [("finish", 1), ("once", 2), ("repeat", 2)])
def test_a_burst_counts_as_what_it_may_commit(burst: str, passes: int) -> None:
    """`finish` commits more only when that ends the block; the others at any step."""
    made = frames(
        certain_at(5), method="focore_a", burst=burst, gen_length=8, parallel_tokens=3,
        convergence_threshold=0.0,
    )  # fmt: skip
    assert made[0].passes == passes


def test_a_spared_pass_is_not_run() -> None:
    model = known_model(constant([20.0] + [0.0] * 11))
    assert isinstance(model.denoiser, Known)
    made = focore.generate(model, [1, 2], gen_length=6, contrast="auto")
    assert model.denoiser.calls == made.passes == made.steps == 6


@pytest.mark.parametrize("method", METHODS)
def test_wrong_values_are_named(method: str) -> None:
    with pytest.raises(focore.OptionError, match="contrast='sometimes' is not allowed"):
        focore.generate(MODELS[0], [1], method=method, contrast="sometimes")
    with pytest.raises(focore.OptionError, match=r"contrast_bound=1\.5 is not allowed"):
        focore.generate(MODELS[0], [1], method=method, contrast_bound=1.5)
