"""The paper's tables and ablations by name, and what to run them on when the model is ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import unknown

OWN_TASKS = ("focore_words", "focore_countdown")
OWN_LENGTHS = (32, 64)
OWN_LIMIT = 100


@dataclass(frozen=True)
class Preset:
    """Tasks x methods x lengths, with one option varied or none."""

    about: str
    tasks: Sequence[str]
    methods: Sequence[str]
    lengths: Sequence[int]
    vary: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    limit: int | None = None

    def for_own_model(self) -> Preset:
        """The same question, asked of the shipped model: its own tasks, at lengths that fit."""
        lengths = OWN_LENGTHS[: len(self.lengths)]
        return Preset(self.about, OWN_TASKS, self.methods, lengths, self.vary, OWN_LIMIT)


BENCHMARKS = ("gsm8k", "math500", "humaneval", "mbpp")
LOGIC = ("svamp", "countdown")

PRESETS = {
    "paper-main": Preset(
        "Table 1: all methods at three lengths",
        BENCHMARKS,
        (
            "random",
            "greedy",
            "confidence",
            "cfg",
            "acfg",
            "klass",
            "prophet",
            "focore",
            "focore_a",
        ),
        (128, 256, 512),
    ),
    "paper-efficiency-a": Preset(
        "Table 2 (a): decoding steps saved by the methods that commit several tokens",
        BENCHMARKS,
        ("confidence", "prophet", "klass", "focore_a"),
        (256,),
    ),
    "paper-efficiency-b": Preset(
        "Table 2 (b): time of the methods that contrast",
        BENCHMARKS,
        ("confidence", "acfg", "cfg", "focore_a"),
        (256,),
    ),
    "paper-svamp-countdown": Preset(
        "SVAMP and Countdown", LOGIC, ("confidence", "cfg", "acfg", "soar", "focore"), (128, 256)
    ),
    "paper-masking": Preset(
        "what to hide: nouns and numbers, all but those, or what is unstable",
        ("humaneval", "mbpp", "bbh"),
        ("mask_hd", "mask_ld", "focore"),
        (256,),
    ),
    "ablation-m": Preset(
        "tokens committed beyond the schedule by FoCore_A",
        ("gsm8k",),
        ("focore_a",),
        (256,),
        {"parallel_tokens": tuple(range(15))},
        200,
    ),
    "ablation-w": Preset(
        "the guidance scale of FoCore",
        LOGIC,
        ("focore",),
        (128, 256),
        {"guidance_scale": (0.1, 0.2, 0.3, 0.4, 0.5)},
    ),
    "ablation-k": Preset(
        "the number of tokens that FoCore hides",
        LOGIC,
        ("focore",),
        (128, 256),
        {"core_tokens": (2, 4, 6, 8, 10)},
    ),
}


def preset(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    return PRESETS[name]
