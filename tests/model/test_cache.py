"""Caches: what is fed, what is kept, and what that leaves unchanged."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import focore
from focore.canvas import Canvas, continuation
from focore.generation import Plan, Runner, row_seeds
from focore.model.cache import Cached, make_passes
from focore.model.transformer import Native
from tests.support import DREAM, LLADA, constant, known_model, random_model

MODELS = {"llada": random_model(LLADA), "dream": random_model(DREAM)}


def canvas_of(lengths: list[int], block: int = 4) -> Canvas:
    rows = [continuation(list(range(1, n + 1)), 12, block, 12, 38, {}) for n in lengths]
    canvas = Canvas.lay(rows, torch.device("cpu"))
    return replace(canvas, step=canvas.step + 1)  # the first step of a row is always a full pass


def cached(model: focore.Model, kind: str) -> Cached:
    made = make_passes(model.denoiser, kind)
    assert isinstance(made, Cached)
    return made


@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize("kind", ["prefix", "dual"])
def test_the_first_pass_of_a_block_is_a_full_one(family: str, kind: str) -> None:
    model, canvas = MODELS[family], canvas_of([3, 5])
    rows = torch.arange(2)
    full = model.denoiser.predict(canvas.tokens, canvas.valid)
    found = cached(model, kind)(canvas, canvas.tokens, "given", rows)
    assert torch.equal(found.hidden, full.hidden) and bool(found.known.all())


@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize("kind", ["prefix", "dual"])
def test_a_partial_pass_on_an_unchanged_canvas_predicts_the_same(family: str, kind: str) -> None:
    """Nothing stale has changed, so what is fed comes out as in a full pass."""
    model, canvas, rows = MODELS[family], canvas_of([3, 5]), torch.arange(2)
    run = cached(model, kind)
    full = run(canvas, canvas.tokens, "given", rows)
    part = run(canvas, canvas.tokens, "given", rows)
    assert not bool(part.known.all())
    assert bool(part.known[canvas.in_block].all())
    assert torch.allclose(part.hidden[part.known], full.hidden[part.known], atol=1e-12)


def fed_positions(kind: str, family: str = "llada") -> list[int]:
    canvas = canvas_of([3])
    run = cached(MODELS[family], kind)
    run(canvas, canvas.tokens, "given", torch.tensor([0]))
    fed = run._fed(canvas, canvas.tokens, run.views["given"], torch.tensor([0]))
    return sorted(set(fed[0].tolist()))


def test_what_is_fed() -> None:
    assert fed_positions("dual") == [3, 4, 5, 6]
    assert fed_positions("prefix") == list(range(3, 15))
    assert fed_positions("dual", "dream") == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("family", MODELS)
def test_a_hidden_token_outside_the_block_is_fed_along(family: str) -> None:
    """Hidden, its key and value are replaced; shown again, it is as if it had never been hidden."""
    model, canvas, rows = MODELS[family], canvas_of([3]), torch.tensor([0])
    run = cached(model, "dual")
    run(canvas, canvas.tokens, "hidden", rows)
    hidden = canvas.tokens.clone()
    hidden[0, 1] = 38
    part = run(canvas, hidden, "hidden", rows)
    assert bool(part.known[0, 2 if family == "dream" else 1])
    back = run(canvas, canvas.tokens, "hidden", rows)
    full = model.denoiser.predict(canvas.tokens, None)
    assert torch.allclose(back.hidden[0, 4:7], full.hidden[0, 4:7], atol=1e-12)


@pytest.mark.parametrize("family", MODELS)
def test_rows_in_different_blocks(family: str) -> None:
    """A row that enters a block gets a full pass while another goes on in its own."""
    model, canvas, rows = MODELS[family], canvas_of([3, 5]), torch.arange(2)
    run = cached(model, "dual")
    run(canvas, canvas.tokens, "given", rows)
    tokens = canvas.tokens.clone()
    tokens[0, 3:7] = 9
    moved = canvas.write(tokens)
    mixed = run(moved, tokens, "given", rows)
    assert bool(mixed.known[0].all()) and not bool(mixed.known[1].all())
    alone = model.denoiser.predict(tokens[:1], moved.valid[:1])
    assert torch.allclose(mixed.hidden[0], alone.hidden[0], atol=1e-12)


@pytest.mark.parametrize("kind", ["prefix", "dual"])
@pytest.mark.parametrize("method", ["confidence", "threshold", "cfg", "acfg", "klass", "focore_a"])
def test_one_block_of_one_token_needs_no_cache(method: str, kind: str) -> None:
    """With blocks of one token every pass is a full one, and the cache changes nothing."""
    options = {"method": method, "gen_length": 7, "block_length": 1}
    for model in MODELS.values():
        plain = focore.generate(model, [1, 2, 3], **options)
        quick = focore.generate(model, [1, 2, 3], cache=kind, **options)
        assert quick.tokens == plain.tokens and quick.passes == plain.passes


def test_a_finished_block_costs_no_pass() -> None:
    """A threshold of 0 finishes every block in its first step."""
    for kind in ("none", "prefix", "dual"):
        made = focore.generate(
            MODELS["llada"], [1, 2], method="threshold", threshold=0.0,
            gen_length=16, block_length=4, cache=kind,
        )  # fmt: skip
        assert made.steps == made.passes == 4


def test_scores_stay_where_a_cached_pass_did_not_look() -> None:
    """FoCore's scores of the prompt move only in the full pass at the start of a block."""
    frames = list(
        focore.stream(
            MODELS["llada"], [1, 2, 3], gen_length=8, block_length=4, cache="dual", tie_noise=0.0,
            core_tokens=0,
        )
    )  # fmt: skip
    scores = [frame.notes["instability"][:3] for frame in frames]
    assert scores[0] == scores[1] == scores[2] == scores[3]
    assert scores[4] != scores[3] and scores[4] == scores[7]


@pytest.mark.parametrize("method", ["prophet", "soar"])
def test_methods_that_look_elsewhere_refuse_a_cache(method: str) -> None:
    with pytest.raises(focore.OptionError, match=f"method '{method}' does not work with cache"):
        focore.generate(MODELS["llada"], [1], method=method, gen_length=4, cache="dual")


def test_other_denoisers_refuse_a_cache() -> None:
    with pytest.raises(focore.OptionError, match="needs a LLaDA or Dream checkpoint"):
        focore.generate(known_model(constant([0.0] * 12)), [1], gen_length=4, cache="prefix")


def test_only_needed_rows_reach_the_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """Confidence asks for the masks of the block and nothing else."""
    from focore.model.denoiser import Prediction

    asked = []
    logits = Prediction.logits

    def spy(self: Prediction, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        asked.append(len(row))
        return logits(self, row, position)

    monkeypatch.setattr(Prediction, "logits", spy)
    focore.generate(MODELS["llada"], [1] * 9, method="confidence", gen_length=8, block_length=4)
    assert asked == [4, 3, 2, 1, 4, 3, 2, 1]


def test_a_native_denoiser_names_its_shape() -> None:
    denoiser = MODELS["dream"].denoiser
    assert isinstance(denoiser, Native)
    where = torch.tensor([[False, True, False, True]])
    assert denoiser.needed(where).tolist() == [[True, True, True, True]]


@pytest.mark.parametrize("kind", ["prefix", "dual"])
def test_a_row_that_joins_has_no_memory_of_a_view_before_its_first_pass_there(kind: str) -> None:
    """Its second pass comes a step later than its first; memory yet unwritten reads as token 0."""
    options = {"gen_length": 8, "block_length": 8, "scope": "generated", "cache": kind}
    plan = Plan.make(MODELS["llada"], "focore", 0, options)
    rows = [plan.continuation(prompt, None) for prompt in ([1, 2, 3], [0, 0])]
    seeds, runner = row_seeds(plan.seed, rows), Runner(plan)
    runner.admit(rows[:1], seeds[:1], [0])
    runner.batch.step()
    runner.batch.step()
    runner.admit(rows[1:], seeds[1:], [1])
    while len(runner.batch):
        step = runner.batch.step()
    alone = focore.generate(MODELS["llada"], [0, 0], **options)
    assert step.tokens[0, 2:10].tolist() == alone.tokens
