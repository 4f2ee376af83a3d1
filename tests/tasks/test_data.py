"""Benchmark files: what is read, and what is said when they are broken."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from focore import OptionError
from focore.tasks import data


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"gsm8k_test\.jsonl is not there"):
        data.load("gsm8k", tmp_path)
    with pytest.raises(OptionError, match="nowhere is not a folder"):
        data.load("gsm8k", tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"question": "?", "ans', r"gsm8k_test\.jsonl: line 3 is not JSON"),
        ('{"question": "?"}', r"gsm8k_test\.jsonl: line 3 has no field 'answer'"),
        ("[1]", r"gsm8k_test\.jsonl: line 3 is not an object"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    good = json.dumps({"question": "1+1?", "answer": "#### 2"})
    (tmp_path / "gsm8k_test.jsonl").write_text(f"{good}\n\n{line}\n{good}\n")
    with pytest.raises(OptionError, match=said) as error:
        data.load("gsm8k", tmp_path)
    assert "\n" not in str(error.value)


def test_broken_files(tmp_path: Path) -> None:
    (tmp_path / "gsm8k_test.jsonl").write_text("")
    with pytest.raises(OptionError, match="has no problems in it"):
        data.load("gsm8k", tmp_path)
    (tmp_path / "svamp.json").write_text("{")
    with pytest.raises(OptionError, match="is not JSON"):
        data.load("svamp", tmp_path)
    (tmp_path / "svamp.json").write_text("{}")
    with pytest.raises(OptionError, match="is not a list"):
        data.load("svamp", tmp_path)
    (tmp_path / "humaneval.jsonl.gz").write_bytes(gzip.compress(b"{}\n")[:-9])
    with pytest.raises(OptionError, match="cannot be read"):
        data.load("humaneval", tmp_path)


def test_countdown_is_not_on_the_hub() -> None:
    with pytest.raises(OptionError, match="give the folder"):
        data.load("countdown", None)


@pytest.mark.shared
def test_all_files(shared: Path) -> None:
    counts = {name: len(data.load(name, shared / "data")) for name in data.FILES}
    assert counts == {
        "gsm8k": 1319,
        "math500": 500,
        "humaneval": 164,
        "mbpp": 500,
        "svamp": 1000,
        "countdown": 256,
    }
