"""`focore eval`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from focore.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["eval", *arguments])
    captured = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, captured.out, captured.err


@pytest.fixture
def common(checkpoint: Path, data: str) -> list[str]:
    return ["-m", str(checkpoint), "--data", data, "--gen-length", "4", "--limit", "2"]


def test_rows(capsys: pytest.CaptureFixture[str], common: list[str]) -> None:
    code, out, _ = run(
        capsys, "--task", "gsm8k,countdown", "--method", "confidence", "--method", "cfg",
        *common, "--gen-length", "6", "--json", "-O", "guidance_scale=0.5",
    )  # fmt: skip
    rows = json.loads(out)
    assert code == 0
    assert [(r["task"], r["gen_length"], r["method"]) for r in rows] == [
        (task, length, method)
        for task in ("gsm8k", "countdown")
        for length in (4, 6)
        for method in ("confidence", "cfg")
    ]
    for row in rows:
        assert set(row) >= {
            "task", "method", "gen_length", "accuracy", "stderr", "samples", "steps", "passes",
            "seconds",
        }  # fmt: skip
        assert 0 <= row["accuracy"] <= 1 and row["samples"] == 2


def test_table_and_check(
    capsys: pytest.CaptureFixture[str], common: list[str], tmp_path: Path
) -> None:
    out_folder = str(tmp_path / "out")
    code, out, _ = run(
        capsys, "--task", "gsm8k", "--method", "confidence", *common, "-o", out_folder
    )
    assert code == 0 and out.startswith("| task | length | method | accuracy |")
    result = f"{out_folder}/gsm8k.confidence.4.json"
    code, out, _ = run(capsys, "--check", result)
    assert (code, out) == (0, "reproduces: 2 of 2 samples are the same\n")
    code, out, _ = run(capsys, "--check", result, "--json")
    assert json.loads(out)["reproduces"] is True
    kept = tmp_path / "out" / "gsm8k.confidence.4.jsonl"
    head, *lines = kept.read_text().splitlines()
    changed = [json.dumps({**json.loads(line), "tokens": []}) for line in lines]
    kept.write_text("\n".join([head, *changed]) + "\n")
    code, out, _ = run(capsys, "--check", result)
    assert code == 1 and out.startswith("does not reproduce: 0 of 2")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "at least one task"),
        (["--task", "gsm8k", "--method", "focor"], "did you mean 'focore'"),
        (["--task", "gsm8k", "--gen-length", "long"], "'long' is not a whole number"),
        (["--task", "mbpp"], "--allow-code-execution"),
        (["--task", "svamp"], "svamp.json is not there"),
        (["--task", "gsm8k", "--workers", "slurm"], "it must be ray or ray:N"),
        (["--check", "nowhere.json"], "nowhere.json cannot be read"),
        (["--task", "gsm8k", "-o", "/dev/null/out"], "cannot be written"),
        (["--task", "gsm8k", "--data", "nowhere"], "nowhere is not a folder"),
    ],
)
def test_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], common: list[str], arguments: list[str], said: str
) -> None:
    code, out, err = run(capsys, *common, *arguments)
    assert (code, out) == (2, "")
    assert said in err and err.count("\n") == 1
