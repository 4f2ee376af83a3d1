"""`focore bench`: presets, the paper's figures, pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from focore import METHODS
from focore.cli import main
from focore.evaluate.bench import comparison
from focore.evaluate.presets import PRESETS
from focore.evaluate.published import figure, figures
from focore.tasks import catalogue


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["bench", *arguments])
    captured = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, captured.out, captured.err


def test_presets_name_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    known = {*catalogue.ours(), *catalogue.SHORT, "bbh"}
    for preset in PRESETS.values():
        for each in (preset, preset.for_own_model()):
            assert set(each.tasks) <= known
            assert set(each.methods) <= set(METHODS)
            for name in each.vary:
                assert all(name in METHODS[method].options for method in each.methods)
    code, out, _ = run(capsys)
    assert code == 0 and all(f"{name}: " in out for name in PRESETS)
    code, _, err = run(capsys, "--preset", "paper-mian")
    assert code == 2 and "did you mean 'paper-main'?" in err


def test_published_figures() -> None:
    assert len(figures("llada")) == 8 * 12 + 4 + 4 * 4 + 6 + 15
    assert len(figures("dream")) == 8 * 12 + 4
    row = {"task": "gsm8k", "method": "focore", "gen_length": 256}
    assert (figure("llada", row), figure("dream", row)) == (75.05, 80.97)
    assert figure("llada", {**row, "method": "prophet", "gen_length": 128}) is None
    burst = {**row, "method": "focore_a", "variant": "parallel_tokens=5"}
    assert figure("llada", burst) == 75.5


def test_comparison() -> None:
    row = {
        "task": "gsm8k", "method": "confidence", "gen_length": 256, "accuracy": 0.5,
        "stderr": 0.1, "samples": 4, "steps": 256.0, "passes": 256.0, "seconds": 2.0,
        "tokens_per_second": 3.0, "variant": "",
    }  # fmt: skip
    fast = {**row, "method": "klass", "steps": 128.0, "seconds": 1.0}
    text = comparison([row, fast], "A table")
    *_, plain, quick = text.splitlines()
    assert plain.endswith("| 1.00x | 1.00x | 71.03 | 79.52 |")
    assert quick.endswith("| 2.00x | 2.00x | 71.19 | 79.37 |")


def test_an_ablation(
    capsys: pytest.CaptureFixture[str], checkpoint: Path, data: str, tmp_path: Path
) -> None:
    arguments = [
        "--preset", "ablation-w", "-m", str(checkpoint), "--data", data, "--task", "countdown",
        "--gen-length", "4", "--limit", "2", "-o", str(tmp_path), "--json",
    ]  # fmt: skip
    code, out, _ = run(capsys, *arguments)
    rows = json.loads(out)
    assert code == 0
    assert [row["variant"] for row in rows] == [f"guidance_scale=0.{n}" for n in range(1, 6)]
    assert (tmp_path / "ablation-w.md").read_text().count("| countdown |") == 5
    assert (tmp_path / "ablation-w.png").stat().st_size > 1000
    assert len(json.loads((tmp_path / "results.json").read_text())["rows"]) == 5
    again = json.loads(run(capsys, *arguments)[1])
    assert again == rows  # nothing was computed again, times included
    from focore.evaluate.check import check

    assert check(tmp_path / "countdown.focore.4.guidance_scale=0.3.json").reproduces
