"""Other commands that keep traces: generate --trace, compare --html."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from focore.trace import load
from tests.trace.test_page import data_of, run


def test_generate_keeps_a_trace(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    kept, file = tmp_path / "run.npz", tmp_path / "run.html"
    asked = ["generate", "Ann has", "-m", str(folder), "--gen-length", "6", "--json"]
    plain = json.loads(run(capsys, *asked)[1])
    made = json.loads(run(capsys, *asked, "--trace", str(kept))[1])
    assert {**made, "seconds": 0} == {**plain, "seconds": 0}
    assert load(kept).answer == made["tokens"]
    assert run(capsys, *asked[:-1], "--trace", str(file))[0] == 0
    assert len(data_of(file.read_text())["runs"]) == 1


def test_compare_writes_a_page_and_marks_answers(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "compared.html"
    asked = ["compare", "Ann has", "-m", str(folder), "--gen-length", "6", "--truth", "1234567"]
    code, out, _ = run(capsys, *asked, "--html", str(file), "--methods", "cfg,focore", "--json")
    assert code == 0 and [row["right"] for row in json.loads(out)] == [False, False]
    runs = data_of(file.read_text())["runs"]
    assert [each["method"] for each in runs] == ["cfg", "focore"]
    assert [each["right"] for each in runs] == [False, False]
    assert "✗ wrong" in run(capsys, *asked, "--methods", "confidence")[1]
