"""The numbers behind the figures, on a denoiser whose answers are known."""

from __future__ import annotations

import csv
import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import Tensor

import focore
from focore.analysis import figures
from focore.analysis.analyze import analyze
from focore.analysis.sensitivity import RATIOS, Sensitivity, prompt_masks, sensitivity
from focore.analysis.summary import Words, collapsed, decoded_by, differences, drops, mean, words
from focore.cli import main
from focore.text import Text
from tests.support import Known
from tests.tokenizers import write_tokenizer

pytest.importorskip("spacy")
pytest.importorskip("matplotlib")

PROMPT = "Ann has four red apples and Bob has two pears."
KEY = 3  # the position of the prompt that the answer hangs on


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> focore.Model:
    """Its second answer token is sure while the prompt shows one token, and a guess otherwise."""
    tokenizer = write_tokenizer(tmp_path_factory.mktemp("tokenizer"))
    words_of_answer = tokenizer(" four pears are", add_special_tokens=False)["input_ids"]
    start = len(tokenizer(PROMPT, add_special_tokens=False)["input_ids"])

    def answer(tokens: Tensor) -> Tensor:
        logits = torch.zeros(*tokens.shape, 300)
        for offset, token in enumerate([*words_of_answer, 0]):
            logits[:, start + offset, token] = 6.0 + offset / 10
        hidden = tokens[:, KEY] == 1
        logits[hidden, start + 1] = 0.0
        return logits

    denoiser = Known(answer, vocabulary=300, mask_id=1, end_ids=(0,))
    return focore.Model("known", denoiser, Text(tokenizer, 1, (0,), instruct=False))


@pytest.fixture(scope="module")
def found(model: focore.Model) -> Sensitivity:
    return sensitivity(model, PROMPT, gen_length=8)


def test_the_heatmap_shows_exactly_the_dependency(found: Sensitivity) -> None:
    sure = torch.tensor([6.1, *[0.0] * 299]).softmax(dim=0)[0].item()
    for ratio in range(len(RATIOS)):
        expected = [0.0] * len(found.pieces)
        if found.masked[ratio][KEY]:
            expected[1] = 1 / 300 - sure
        assert found.change[ratio] == pytest.approx(expected, abs=1e-6)
    assert any(row[KEY] for row in found.masked) and not all(row[KEY] for row in found.masked)


def test_an_answer_ends_at_its_end_token(found: Sensitivity) -> None:
    assert "".join(found.pieces) == " four pears are"
    assert len(found.step) == len(found.dense) == len(found.pieces)
    assert sorted(found.step, reverse=True) == found.step  # later offsets are surer here
    assert found.steps == 8


def test_masks_grow_and_spare_special_tokens(model: focore.Model) -> None:
    assert model.text is not None
    prompt = [2, *model.text.plain(PROMPT), 3]
    masks = prompt_masks(model.text, prompt, RATIOS, seed=0)
    assert not masks[:, 0].any() and not masks[:, -1].any()
    assert all(bool((low <= high).all()) for low, high in pairwise(masks))
    ordinary = len(prompt) - 2
    assert masks.sum(dim=1).tolist() == [round(ratio * ordinary) for ratio in RATIOS]


def made(change: list[float], dense: list[bool], step: list[int]) -> Sensitivity:
    pieces = [str(i) for i in range(len(change))]
    return Sensitivity(pieces, step, 4, dense, (0.5,), [[True]], [change])


def test_drops_are_means_over_answers() -> None:
    first = made([-0.4, -0.2, 0.0], [True, True, False], [0, 1, 2])
    second = made([-0.1, -0.3], [True, False], [3, 0])
    curves = drops([first, second])
    assert curves["HD"][0].value == pytest.approx((0.3 + 0.1) / 2)
    assert curves["LD"][0].value == pytest.approx(0.15) and curves["LD"][0].count == 2
    assert mean([1.0, 1.0, 1.0]).half == 0 and mean([]).count == 0


def test_differences_are_within_answers() -> None:
    first = made([-0.8, -0.2, 0.0], [True, True, False], [0, 1, 3])
    only_high = made([-0.9], [True], [0])
    gaps = differences([first, first, only_high], 0)
    assert {name: gap.count for name, gap in gaps.items()} == dict.fromkeys(gaps, 2)
    assert gaps["collapsed"].value == 0.5 and gaps["drop"].value == pytest.approx(0.5)
    assert gaps["step"].value == pytest.approx((1 / 4 + 2 / 4) / 2 - 1)
    assert collapsed([first, only_high], 0) == {"HD": pytest.approx(2 / 3), "LD": 0}


def test_only_the_steps_of_the_answer_are_replayed(model: focore.Model) -> None:
    before = model.denoiser.calls  # type: ignore[attr-defined]
    sensitivity(model, PROMPT, gen_length=8)
    assert model.denoiser.calls - before == 8 + 1  # type: ignore[attr-defined]


def test_the_words_of_the_chat_template_do_not_count() -> None:
    run = focore.CoreTokens(
        tokens=[9, 5, 8, 6], pieces=["user", " four", "assistant", " Ann"], start=3,
        instability=[], divergence=[], core=[[0, 1, 2, 3]],
    )  # fmt: skip
    counted = words([run], special=set(), template=[9, 8])
    assert counted.automatic == {"four": 1, "Ann": 1} and counted.both == 2


def test_order_of_decoding() -> None:
    answer = made([0.0] * 4, [True, True, False, False], [0, 1, 2, 3])
    curves = decoded_by([answer], points=5)
    assert curves == {"HD": [0, 0.5, 1, 1, 1], "LD": [0, 0, 0, 0.5, 1]}


def test_agreement_of_the_detectors() -> None:
    assert Words({}, {}, 5, 0, 0, 5).kappa == 1  # type: ignore[arg-type]
    assert Words({}, {}, 25, 25, 25, 25).kappa == 0  # type: ignore[arg-type]
    run = focore.CoreTokens(
        tokens=[5, 6, 7, 2], pieces=["Ann", " in", " four", "<|start|>"], start=2,
        instability=[], divergence=[], core=[[0], [0, 1, 3]],
    )  # fmt: skip
    counted = words([run], special={2})
    assert counted.automatic == {"Ann": 1, "in": 1} and counted.linguistic == {"Ann": 1, "four": 1}
    assert (counted.both, counted.only_automatic, counted.only_linguistic) == (1, 1, 1)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_everything_is_written(model: focore.Model, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    prompts = {"fruit": [PROMPT, PROMPT]}
    summary = analyze(
        model, prompts, tmp_path, gen_length=8, report=lambda done, all_: seen.append((done, all_))
    )
    assert seen == [(1, 2), (2, 2)] and summary["answers"] == 2
    for name in ("finding1", "finding2", "finding3", "words-fruit"):
        for kind in ("png", "svg", "csv"):
            assert (tmp_path / f"{name}.{kind}").stat().st_size > 0
    data = rows(tmp_path / "finding2.csv")
    assert [row["kind"] for row in data] == ["HD"] * 9 + ["LD"] * 9
    assert json.loads((tmp_path / "summary.json").read_text()) == summary


def test_an_empty_cloud_is_drawn_too(tmp_path: Path) -> None:
    nothing = words([], special=set())
    figures.clouds(nothing, "nothing", tmp_path)
    assert {path.suffix for path in tmp_path.glob("words-nothing.*")} == {".png", ".svg", ".csv"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prompts", "missing.txt"], "missing.txt: cannot be read"),
        (["--problems", "0"], "problems=0"),
        (["--prompts", "EMPTY"], "no prompt"),
    ],
)
def test_mistakes(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, model: focore.Model,
) -> None:  # fmt: skip
    (tmp_path / "empty.txt").write_text("\n")
    monkeypatch.setattr("focore.cli.analyze.load_model", lambda *_: model)
    arguments = [str(tmp_path / "empty.txt") if a == "EMPTY" else a for a in arguments]
    with pytest.raises(SystemExit) as stop:
        main(["analyze", "-o", str(tmp_path / "out"), *arguments])
    assert stop.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.parametrize("place", ["file", "file/in", "/proc"])
def test_a_folder_that_cannot_be_written(model: focore.Model, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    before = model.denoiser.calls  # type: ignore[attr-defined]
    with pytest.raises(focore.OptionError, match="cannot be written"):
        analyze(model, {"fruit": [PROMPT]}, tmp_path / place, gen_length=8)
    assert model.denoiser.calls == before  # type: ignore[attr-defined]


@pytest.mark.parametrize("library", ["matplotlib", "wordcloud"])
def test_a_missing_library_is_said_first(
    model: focore.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    before = model.denoiser.calls  # type: ignore[attr-defined]
    with pytest.raises(focore.OptionError, match=rf"{library}: pip install 'focore\[plot\]'"):
        analyze(model, {"fruit": [PROMPT]}, tmp_path, gen_length=8)
    assert model.denoiser.calls == before  # type: ignore[attr-defined]


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    model: focore.Model,
) -> None:  # fmt: skip
    (tmp_path / "fruit.txt").write_text(PROMPT + "\n")
    monkeypatch.setattr("focore.cli.analyze.load_model", lambda *_: model)
    for extra in ([], ["--json"]):
        with pytest.raises(SystemExit) as stop:
            main(["analyze", "-o", str(tmp_path), "--prompts", str(tmp_path / "fruit.txt"),
                  "--gen-length", "8", *extra])  # fmt: skip
        assert stop.value.code == 0
        out = capsys.readouterr().out
    assert json.loads(out)["answers"] == 1
