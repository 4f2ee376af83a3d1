"""Exact agreement with what the official code gives on small checkpoints."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import focore

pytestmark = pytest.mark.shared

FOLDERS = ("llada-a", "dream-a")
FILES = ("decodes", "focore")


@pytest.fixture(scope="module", params=FOLDERS)
def golden(request: pytest.FixtureRequest, shared: Path) -> Path:
    return shared / "goldens" / request.param


@pytest.fixture(scope="module")
def model(golden: Path) -> focore.Model:
    return focore.load(golden)


def cases(golden: Path, file: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((golden / f"{file}.json").read_text())["cases"]
    return found


def by_settings(golden: Path, file: str) -> list[list[dict[str, Any]]]:
    """The cases of single prompts, those with equal method and options together."""

    def key(case: dict[str, Any]) -> str:
        return case["method"] + json.dumps(case["params"], sort_keys=True)

    single = [case for case in cases(golden, file) if not case.get("batched")]
    return [list(group) for _, group in groupby(sorted(single, key=key), key=key)]


def test_logits_are_those_of_the_official_model(golden: Path, model: focore.Model) -> None:
    tensors = load_file(golden / "logits.safetensors")
    expected = tensors.get("logits")
    if expected is None:
        raw = tensors["raw_logits"]
        expected = torch.cat((raw[:, :1], raw[:, :-1]), dim=1)
    found = model.logits(tensors["input_ids"])
    assert found.dtype == torch.float32
    assert (found - expected).abs().max() < 1e-4


@pytest.mark.parametrize("file", FILES)
def test_every_case_in_batches(golden: Path, model: focore.Model, file: str) -> None:
    """Tokens, steps and passes of all prompts with the same settings, decoded side by side."""
    count = 0
    for group in by_settings(golden, file):
        prompts = [case["prompt"] for case in group]
        made = focore.generate(model, prompts, method=group[0]["method"], **group[0]["params"])
        for case, completion in zip(group, made, strict=True):
            assert completion.tokens == case["tokens"], (case["method"], case["params"])
            assert completion.steps == case.get("steps", completion.steps)
            assert completion.passes == case.get("passes", completion.passes)
            if "cache" not in case["params"]:
                assert completion.passes == case.get("nfe", completion.passes)
            count += 1
    assert count >= 40


@pytest.mark.parametrize("file", FILES)
def test_one_case_of_each_setting_alone(golden: Path, model: focore.Model, file: str) -> None:
    for group in by_settings(golden, file):
        case = group[-1]
        made = focore.generate(model, case["prompt"], method=case["method"], **case["params"])
        assert made.tokens == case["tokens"], (case["method"], case["params"])


def test_hidden_positions_of_the_first_steps(golden: Path, model: focore.Model) -> None:
    for case in cases(golden, "focore"):
        frames = focore.stream(model, case["prompt"], method=case["method"], **case["params"])
        for frame, hidden in zip(frames, case["first_hidden"], strict=False):
            assert [i for i, hide in enumerate(frame.notes["hidden"]) if hide] == hidden


def test_the_batched_case(shared: Path) -> None:
    """The official code was run on prompts padded with the end token, which it attended to.

    With that padding as part of the prompts the tokens agree. A batch of ours keeps padding out of
    sight, so that a prompt has the same answer alone and in a batch.
    """
    folder = shared / "goldens" / "llada-a"
    model = focore.load(folder)
    (case,) = [case for case in cases(folder, "decodes") if case.get("batched")]
    longest = max(map(len, case["prompts"]))
    padded = [[model.end_ids[0]] * (longest - len(p)) + p for p in case["prompts"]]
    made = focore.generate(model, padded, method=case["method"], **case["params"])
    assert [completion.tokens for completion in made] == case["tokens"]


def test_dreams_code_cuts_to_the_top_50_unless_told_otherwise(shared: Path) -> None:
    """Its goldens come from a checkpoint without generation_config.json."""
    model = focore.load(shared / "goldens" / "dream-a")
    case = cases(shared / "goldens" / "dream-a", "decodes")[0]
    options = {"method": case["method"], **case["params"]}
    assert focore.generate(model, case["prompt"], **options).options["top_k"] == 50
    whole = focore.generate(model, case["prompt"], **options, top_k=512)
    assert whole.tokens != case["tokens"]


@pytest.mark.parametrize("size", [2, 3, 7])
def test_any_batch_in_any_order(golden: Path, model: focore.Model, size: int) -> None:
    prompts = [case["prompt"] for case in by_settings(golden, "focore")[0]]
    prompts = (prompts + prompts[:1])[:size]
    options = {"gen_length": 24, "block_length": 8, "steps": 20, "tie_noise": 0.0}
    alone = [focore.generate(model, prompt, **options).tokens for prompt in prompts]
    order = torch.randperm(len(prompts), generator=torch.Generator().manual_seed(size)).tolist()
    made = focore.generate(model, [prompts[i] for i in order], **options)
    assert [c.tokens for c in made] == [alone[i] for i in order]
