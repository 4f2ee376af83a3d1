"""Answers on disk."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from focore import OptionError
from focore.evaluate.keeping import Folder, KeptOnDisk, read_lines, write

MADE = {"method": "focore", "options": {"steps": 4}}


def test_lines_come_back(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    text = "line\u2028separator \x85 and\nnewline \N{SNOWMAN}"
    with KeptOnDisk(path, MADE) as kept:
        kept.add("a/0", {"prompt_hash": "p", "output": text})
    with KeptOnDisk(path, MADE) as kept:
        record = kept.get("a/0", "p")
        assert record is not None and record["output"] == text
        assert kept.get("a/1", "p") is None
        with pytest.raises(OptionError, match="made for another prompt"):
            kept.get("a/0", "q")


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with KeptOnDisk(path, MADE) as kept:
        kept.add("a", {"prompt_hash": "p"})
        kept.add("b", {"prompt_hash": "p"})
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with KeptOnDisk(path, MADE) as kept:
            assert list(kept.records) == ["a", "b"][: max(0, whole[:size].count(b"\n") - 1)]
            kept.add("c", {"prompt_hash": "p"})
        assert [line.get("key") for line in read_lines(path)][-1] == "c"


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with KeptOnDisk(path, MADE) as kept:
        kept.add("a", {"prompt_hash": "p"})
    path.write_bytes(path.read_bytes() + b"{broken\n")
    before = path.read_bytes()
    with pytest.raises(OptionError, match="line 3 is not JSON"):
        KeptOnDisk(path, MADE)
    assert path.read_bytes() == before


def test_another_configuration_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with KeptOnDisk(path, MADE) as kept:
        kept.add("a", {"prompt_hash": "p"})
    before = path.read_bytes()
    with pytest.raises(OptionError, match=r"another configuration: options is \{'steps': 4\}"):
        KeptOnDisk(path, {**MADE, "options": {"steps": 8}})
    assert path.read_bytes() == before


def test_no_space_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "answers.jsonl"
    real = os.write
    with KeptOnDisk(path, MADE) as kept:
        kept.add("a", {"prompt_hash": "p"})
        before = path.read_bytes()
        monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:5]))
        with pytest.raises(OptionError, match="no space left; what was written before is kept"):
            kept.add("b", {"prompt_hash": "p"})

        def full(fd: int, data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OptionError, match="no space left"):
            kept.add("b", {"prompt_hash": "p"})
        assert path.read_bytes() == before
    monkeypatch.undo()
    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, "fsync", lambda fd: full(fd, b""))
    with pytest.raises(OptionError, match="no space left"):
        write(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old"


def test_one_run_at_a_time(tmp_path: Path) -> None:
    busy = pytest.raises(OptionError, match="being written by another run")
    with Folder(tmp_path / "out", MADE), busy:
        Folder(tmp_path / "out", MADE)
    with Folder(tmp_path / "out", MADE):
        pass
    with pytest.raises(OptionError, match="method is 'focore' there and 'cfg' here"):
        Folder(tmp_path / "out", {**MADE, "method": "cfg"})
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="cannot be written"):
        Folder(tmp_path / "file" / "out", MADE)
    (tmp_path / "out" / "run.json").write_text("{")
    with pytest.raises(OptionError, match=r"run\.json is not JSON"):
        Folder(tmp_path / "out", MADE)
