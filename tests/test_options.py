"""A misspelt name or a value out of range: one line that says what and what is allowed."""

from __future__ import annotations

import pytest

import focore
from focore.decoding.options import Settings, options_of
from tests.support import random_model

MODEL = random_model()

WRONG = [
    ({"method": "focor"}, "unknown method 'focor'; did you mean 'focore'?"),
    ({"method": "zzz"}, "unknown method 'zzz'; known: acfg, cfg, confidence"),
    ({"core_token": 3}, "unknown option of method 'focore' 'core_token'; did you mean"),
    ({"method": "confidence", "core_tokens": 3}, "unknown option of method 'confidence'"),
    ({"gen_length": 0}, "gen_length=0 is not allowed; it must be a whole number at least 1"),
    ({"gen_length": 2.5}, "gen_length=2.5"),
    ({"gen_length": True}, "gen_length=True"),
    ({"temperature": -1}, "temperature=-1 is not allowed; it must be a number at least 0"),
    ({"temperature": float("nan")}, "temperature=nan"),
    ({"temperature": float("inf"), "top_k": 2}, "temperature=inf"),
    ({"guidance_scale": 10**400}, "it must be a number at least 0"),
    ({"steps": 10**19}, "steps is too large; it must be at most 1000000"),
    ({"gen_length": 10**10}, "gen_length is too large"),
    ({"gen_length": 10**6}, "gen_length=1000000 are more than the model's 128 positions"),
    ({"seed": 1 << 63}, "seed is too large"),
    ({"method": "klass", "history_length": 10**15}, "history_length is too large"),
    ({"method": "prophet", "thresholds": [1, 2, 10**400]}, "must be three numbers"),
    ({"top_p": 0}, "it must be a number above 0 and at most 1, or none"),
    ({"top_k": 0}, "top_k=0"),
    ({"schedule": "evn"}, "schedule='evn' is not allowed; it must be one of even, dream"),
    ({"cache": "double"}, "cache='double'"),
    ({"suppress_eos": "yes"}, "suppress_eos='yes' is not allowed; it must be true or false"),
    ({"ema_decay": 1.1}, "ema_decay=1.1"),
    ({"guidance_scale": "0.3"}, "guidance_scale='0.3'"),
    ({"seed": -1}, "seed=-1"),
    ({"batch_size": 0}, "batch_size=0"),
    ({"method": "prophet", "thresholds": [1, 2]}, "must be three numbers"),
    ({"method": "prophet", "thresholds": "abc"}, "must be three numbers"),
    ({"method": "focore_a", "burst": "finnish"}, "one of finish, once, repeat"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[m[:30] for _, m in WRONG])
def test_wrong_options(options: dict, message: str) -> None:
    with pytest.raises(focore.OptionError) as error:
        focore.generate(MODEL, [1, 2], **{"gen_length": 8, **options})
    assert message in str(error.value) and "\n" not in str(error.value)
    assert isinstance(error.value, ValueError)


def test_every_limit_is_in_words() -> None:
    found = [options_of(Settings), *(method.options for method in focore.METHODS.values())]
    limits = {name: item.limit for options in found for name, item in options.items()}
    assert not [name for name, limit in limits.items() if "object" in limit or "dict" in limit]
    assert limits["prefix"] == "text or token ids, or none"
    assert limits["thresholds"] == "three numbers"


def test_a_stream_checks_at_once() -> None:
    with pytest.raises(focore.OptionError):
        focore.stream(MODEL, [1], gen_length=-1)


def test_the_largest_seed_is_a_seed() -> None:
    assert len(focore.generate(MODEL, [1], gen_length=2, seed=(1 << 63) - 1).tokens) == 2


@pytest.mark.parametrize("name", ["method", "guidance_scale"])
def test_core_tokens_are_seen_without_guiding(name: str) -> None:
    with pytest.raises(focore.OptionError, match=f"{name} is not an option of core_tokens"):
        focore.core_tokens(MODEL, [1, 2], gen_length=4, **{name: "cfg"})


def test_core_tokens_of_nothing() -> None:
    with pytest.raises(focore.OptionError, match="nothing to decode"):
        focore.core_tokens(MODEL, [1, 2], gen_length=2, fixed={0: [5, 6]})


def test_completions_say_all_their_options() -> None:
    made = focore.generate(MODEL, [1], gen_length=4, guidance_scale=1, seed=3)
    assert set(made.options) == set(options_of(Settings)) | set(focore.METHODS["focore"].options)
    assert made.options["steps"] == 4 and made.options["block_length"] == 32
    assert made.options["guidance_scale"] == 1 and made.options["core_tokens"] == 8
    assert made.method == "focore" and made.seed == 3 and made.seconds > 0


CONTRACT = {
    "random": {}, "confidence": {}, "margin": {}, "entropy": {}, "greedy": {}, "origin": {},
    "cfg": {"guidance_scale": 0.3},
    "acfg": {"guidance_scale": 0.3, "remask_ratio": 0.3},
    "klass": {"confidence_threshold": 0.9, "kl_threshold": 0.01, "history_length": 2},
    "prophet": {"thresholds": (7.5, 5.0, 2.5), "answer_start": None, "answer_length": 5},
    "threshold": {"threshold": 0.9},
    "factor": {"factor": 1.0},
    "soar": {"beam_width": 2, "threshold": 0.95, "max_parallel": 5},
    "mask_hd": {"guidance_scale": 0.3}, "mask_ld": {"guidance_scale": 0.3},
    "focore": {
        "guidance_scale": 0.3, "core_tokens": 8, "divergence_top_k": 256, "ema_decay": 0.9,
        "scope": "all", "cold_start": "zero", "tie_noise": 1e-8,
    },
}  # fmt: skip
CONTRACT["focore_a"] = CONTRACT["focore"] | {
    "convergence_threshold": 0.01, "parallel_tokens": 5, "burst": "finish", "monitor": "decoded",
}  # fmt: skip


BEYOND = {"contrast": "always", "contrast_bound": 0.9}  # of FoCore, not promised, off by default


def test_methods_and_defaults_are_those_promised() -> None:
    found = {
        name: {option: item.default for option, item in method.options.items()}
        for name, method in focore.METHODS.items()
    }
    extra = {name: BEYOND for name in ("focore", "focore_a")}
    assert found == {name: CONTRACT[name] | extra.get(name, {}) for name in CONTRACT}
    assert all(m.rule and m.paper and m.formula and m.passes for m in focore.METHODS.values())
