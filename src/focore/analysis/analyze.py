"""All findings for a set of prompts, into one folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from ..core import CoreTokens, core_tokens
from ..errors import OptionError
from ..loading import Model
from ..prompts import Prompt
from . import figures
from .sensitivity import RATIOS, Sensitivity, sensitivity
from .summary import Words, collapsed, decoded_by, differences, drops, words

Report = Callable[[int, int], None]  # prompts done, prompts in all


def analyze(
    model: Model,
    prompts: Mapping[str, Sequence[Prompt]],
    folder: Path,
    *,
    gen_length: int = 32,
    seed: int = 0,
    report: Report | None = None,
) -> dict[str, Any]:
    """Measure the findings on prompts by task; the figures, the data, and a summary."""
    total = sum(map(len, prompts.values()))
    if not total:
        raise OptionError("there is no prompt to analyse")
    figures.check_libraries()
    _make(folder)
    found: list[Sensitivity] = []
    counted: dict[str, Words] = {}
    for task, asked in prompts.items():
        runs: list[CoreTokens] = []
        for prompt in asked:
            found.append(sensitivity(model, prompt, gen_length=gen_length, seed=seed))
            runs.append(core_tokens(model, prompt, gen_length=gen_length, seed=seed))
            if report:
                report(len(found), total)
        assert model.text is not None
        counted[task] = words(runs, model.text.special_ids, model.text.encode(""))
        figures.clouds(counted[task], task, folder)
    figures.heatmap(max(found, key=lambda one: (sum(one.dense), -len(one.pieces))), folder)
    lost, order = drops(found), decoded_by(found)
    figures.curves(RATIOS, lost, folder)
    figures.orders(order, folder)
    summary = _summary(found, lost, order, counted)
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    return summary


def _make(folder: Path) -> None:
    """Make the folder; one that cannot be written is found out before anything is decoded."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OptionError(f"{folder} cannot be written ({error.strerror})") from None


def _summary(
    found: Sequence[Sensitivity],
    lost: Mapping[str, list[Any]],
    order: Mapping[str, list[float]],
    counted: Mapping[str, Words],
) -> dict[str, Any]:
    half, middle = RATIOS.index(0.5), (len(order["HD"]) - 1) // 2
    return {
        "answers": len(found),
        "hd_tokens": sum(sum(one.dense) for one in found),
        "ld_tokens": sum(len(one.dense) - sum(one.dense) for one in found),
        "drop_at_half": {
            name: {"mean": means[half].value, "half_interval": means[half].half}
            for name, means in lost.items()
        },
        "collapsed_at_half": collapsed(found, half),
        "decoded_at_half": {name: shares[middle] for name, shares in order.items()},
        "differences": {name: asdict(gap) for name, gap in differences(found, half).items()},
        "agreement": {task: _agreement(words) for task, words in counted.items()},
    }


def _agreement(words: Words) -> dict[str, float]:
    return {
        "both": words.both,
        "only_automatic": words.only_automatic,
        "only_linguistic": words.only_linguistic,
        "neither": words.neither,
        "kappa": words.kappa,
    }
