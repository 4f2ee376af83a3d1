"""Compiled models and bfloat16: the same answers, or answers whose difference is explained."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import focore
from focore.generation import Plan, Runner
from focore.model.transformer import Native
from tests.support import DREAM, LLADA, random_transformer

CONFIGS = {"llada": LLADA, "dream": DREAM}
PROMPTS = [[1, 2, 3], [4, 5, 6, 7, 8]]
RUNS: list[dict[str, Any]] = [{"method": "focore"}, {"method": "focore_a", "cache": "dual"}]


def model_of(family: str, dtype: torch.dtype = torch.float64) -> focore.Model:
    return focore.Model("random", Native(random_transformer(CONFIGS[family], 0, dtype)), None)


def compiled(family: str, backend: str) -> focore.Model:
    """The same model, compiled as docs/performance.md says."""
    model = model_of(family)
    assert isinstance(model.denoiser, Native)
    model.denoiser.transformer.compile(dynamic=True, backend=backend)
    return model


def answers(model: focore.Model, run: dict[str, Any]) -> list[tuple[list[int], int]]:
    made = focore.generate(model, PROMPTS, gen_length=8, block_length=4, tie_noise=0.0, **run)
    return [(completion.tokens, completion.passes) for completion in made]


def test_a_traced_model_gives_the_same_answers() -> None:
    """What torch.compile traces, run without its code generator, which takes long."""
    torch._dynamo.reset()
    run = {"gen_length": 4, "tie_noise": 0.0}
    traced, plain = compiled("llada", "eager"), model_of("llada")
    expected = focore.generate(plain, PROMPTS[0], **run).tokens
    assert focore.generate(traced, PROMPTS[0], **run).tokens == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # of the compiler's own modules
@pytest.mark.parametrize("run", RUNS, ids=["exact", "cached"])
@pytest.mark.parametrize("family", CONFIGS)
def test_a_compiled_model_gives_the_same_answers(family: str, run: dict[str, Any]) -> None:
    """In float64, where the other order of sums that a compiler takes decides nothing."""
    torch._dynamo.reset()
    assert answers(compiled(family, "inductor"), run) == answers(model_of(family), run)


@pytest.mark.parametrize("family", CONFIGS)
def test_bfloat16_moves_logits_by_its_rounding(family: str) -> None:
    """Roundings of 2^-8 in every layer: within 4% of the largest logit of the same weights."""
    rounded = model_of(family, torch.bfloat16)
    assert isinstance(rounded.denoiser, Native)
    weights = rounded.denoiser.transformer.state_dict()
    wide = random_transformer(CONFIGS[family], 1)
    wide.load_state_dict({name: weight.double() for name, weight in weights.items()})
    ids = torch.tensor([[1, 2, 38, 3, 38, 38]])
    exact = focore.Model("wide", Native(wide), None).logits(ids)
    found = rounded.logits(ids)
    assert found.dtype == torch.float32
    assert (found - exact).abs().max() < 0.04 * exact.abs().max()


@pytest.mark.parametrize("run", RUNS, ids=["exact", "cached"])
@pytest.mark.parametrize("family", CONFIGS)
def test_bfloat16_decodes_with_scores_in_float32(family: str, run: dict[str, Any]) -> None:
    model = model_of(family, torch.bfloat16)
    for completion in focore.generate(model, PROMPTS, gen_length=8, block_length=4, **run):
        assert len(completion.tokens) == 8 and model.mask_id not in completion.tokens
    plan = Plan.make(model, "focore", 0, {"gen_length": 4})
    row, runner = plan.continuation([1, 2, 3], None), Runner(plan)
    runner.admit([row], [0], [0])
    step = runner.batch.step()
    assert step.confidence.dtype == step.notes["instability"].dtype == torch.float32
