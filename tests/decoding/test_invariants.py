"""What holds for every method, model, length and option."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import focore
from focore.loading import Model
from tests.support import DREAM, LLADA, random_model

PLAIN = [name for name in focore.METHODS if name not in ("mask_hd", "mask_ld")]
CACHED = [name for name in PLAIN if focore.METHODS[name].caches]
MODELS = [random_model(config, seed) for config in (LLADA, DREAM) for seed in range(3)]

ORDINARY = st.integers(0, 37)
PROMPTS = st.lists(ORDINARY, min_size=1, max_size=9)

OPTIONS = {
    "guidance_scale": st.sampled_from([0.0, 0.3, 2.0]),
    "remask_ratio": st.floats(0, 1),
    "confidence_threshold": st.floats(0, 1),
    "kl_threshold": st.sampled_from([0.0, 0.01, 1.0, 1e9]),
    "history_length": st.integers(1, 3),
    "threshold": st.floats(0, 1),
    "factor": st.sampled_from([0.0, 0.5, 1.0, 5.0]),
    "thresholds": st.sampled_from([[7.5, 5.0, 2.5], [1.0, 0.5, 0.1], [0.0, 0.0, 0.0]]),
    "answer_start": st.none() | st.integers(0, 12),
    "answer_length": st.integers(1, 6),
    "beam_width": st.integers(1, 3),
    "max_parallel": st.integers(1, 5),
    "core_tokens": st.integers(0, 10),
    "divergence_top_k": st.integers(1, 50),
    "ema_decay": st.floats(0, 1),
    "scope": st.sampled_from(["all", "generated", "prompt"]),
    "cold_start": st.sampled_from(["zero", "literal"]),
    "tie_noise": st.sampled_from([0.0, 1e-8]),
    "contrast": st.sampled_from(["always", "auto"]),
    "contrast_bound": st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
    "convergence_threshold": st.sampled_from([0.0, 0.01, 0.05, 1e9]),
    "parallel_tokens": st.integers(0, 6),
    "burst": st.sampled_from(["finish", "once", "repeat"]),
    "monitor": st.sampled_from(["decoded", "undecoded"]),
}


@st.composite
def runs(draw: st.DrawFn, methods: list[str] = PLAIN) -> dict[str, Any]:
    """A method with options of its own and common ones that divide nothing."""
    method = draw(st.sampled_from(methods))
    gen_length = draw(st.integers(1, 17))
    block_length = draw(st.integers(1, 20))
    blocks = -(-gen_length // block_length)
    own = {name: draw(OPTIONS[name]) for name in focore.METHODS[method].options}
    return {
        "method": method,
        "gen_length": gen_length,
        "block_length": block_length,
        "steps": draw(st.none() | st.integers(blocks, gen_length + 3)),
        "schedule": draw(st.sampled_from(["even", "even", "dream"])),
        "temperature": draw(st.sampled_from([0.0, 0.0, 0.7, 3.0])),
        "top_p": draw(st.none() | st.floats(0.05, 1)),
        "top_k": draw(st.none() | st.integers(1, 40)),
        "suppress_eos": draw(st.booleans()),
        "defer_eos": draw(st.booleans()),
        "stop_at_eos": draw(st.booleans()),
        "seed": draw(st.integers(0, 3)),
        **own,
    }


MODEL = st.sampled_from(MODELS)


@settings(max_examples=200)
@given(MODEL, PROMPTS, runs(), st.dictionaries(st.integers(0, 16), ORDINARY, max_size=3))
def test_an_answer_is_whole(
    model: Model, prompt: list[int], run: dict[str, Any], fixed: dict[int, int]
) -> None:
    fixed = {offset: token for offset, token in fixed.items() if offset < run["gen_length"]}
    run["fixed"] = {offset: [token] for offset, token in fixed.items()}
    made = focore.generate(model, prompt, **run)
    assert len(made.tokens) == run["gen_length"]
    assert model.mask_id not in made.tokens
    assert all(made.tokens[offset] == token for offset, token in fixed.items())
    assert made.steps <= (run["steps"] or run["gen_length"])
    assert made.steps <= made.passes <= made.steps * 3
    if run["suppress_eos"] and not run["stop_at_eos"]:
        decided = [t for i, t in enumerate(made.tokens) if i not in fixed]
        assert not set(decided) & set(model.end_ids)
    assert focore.generate(model, prompt, **run).tokens == made.tokens


@settings(max_examples=80)
@given(MODEL, st.lists(PROMPTS, min_size=2, max_size=5), runs(), st.randoms(), st.integers(2, 4))
def test_rows_do_not_influence_each_other(
    model: Model, prompts: list[list[int]], run: dict[str, Any], random: Any, batch_size: int
) -> None:
    """Alone, in a batch of any order, joining others midway: the same tokens, steps and passes."""

    def key(completion: focore.Completion) -> tuple[list[int], int, int]:
        return completion.tokens, completion.steps, completion.passes

    distinct = list(map(list, dict.fromkeys(map(tuple, prompts))))
    alone = [key(focore.generate(model, prompt, **run)) for prompt in distinct]
    order = list(range(len(distinct)))
    random.shuffle(order)
    shuffled = [distinct[i] for i in order]
    together = focore.generate(model, shuffled, batch_size=batch_size, **run)
    assert [key(completion) for completion in together] == [alone[i] for i in order]


@settings(max_examples=80)
@given(MODEL, st.lists(PROMPTS, min_size=2, max_size=3), runs(CACHED), st.data())
def test_caches_keep_rows_apart_too(
    model: Model, prompts: list[list[int]], run: dict[str, Any], data: st.DataObject
) -> None:
    run["cache"] = data.draw(st.sampled_from(["prefix", "dual"]))
    distinct = list(map(list, dict.fromkeys(map(tuple, prompts))))
    alone = [focore.generate(model, prompt, **run) for prompt in distinct]
    together = focore.generate(model, distinct, batch_size=2, **run)
    assert [c.tokens for c in together] == [c.tokens for c in alone]
    assert all(model.mask_id not in c.tokens for c in together)


@settings(max_examples=60)
@given(MODEL, st.lists(st.integers(0, 38), min_size=1, max_size=14), runs())
@example(MODELS[0], [38] * 14, {"method": "focore"})
def test_infill_leaves_the_text_alone(model: Model, ids: list[int], run: dict[str, Any]) -> None:
    ids = [*ids, model.mask_id]
    blanks = [i for i, token in enumerate(ids) if token == model.mask_id]
    options = {name: value for name, value in run.items() if name not in ("gen_length", "steps")}
    made = focore.infill(model, ids, **options)
    assert made.tokens == [made.sequence[i] for i in blanks]
    assert model.mask_id not in made.sequence
    assert all(made.sequence[i] == t for i, t in enumerate(ids) if t != model.mask_id)
    assert made.steps <= len(blanks)


@pytest.mark.parametrize("method", ["random", "origin"])
def test_repeated_prompts_give_other_samples(method: str) -> None:
    model = MODELS[0]
    made = focore.generate(model, [[1, 2]] * 4, method=method, gen_length=12, temperature=1.5)
    assert len({tuple(completion.tokens) for completion in made}) > 1
    assert made[0].tokens == focore.generate(
        model, [1, 2], method=method, gen_length=12, temperature=1.5
    ).tokens  # fmt: skip


def test_another_seed_gives_another_sample() -> None:
    options = {"method": "confidence", "gen_length": 16, "temperature": 1.5}
    first = focore.generate(MODELS[0], [1, 2], seed=0, **options)
    assert first.tokens != focore.generate(MODELS[0], [1, 2], seed=1, **options).tokens
