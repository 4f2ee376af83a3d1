"""Answers on disk: one line each, written once, whole or not at all.

A file begins with a line that says what its answers were made with. Lines are appended and synced
one by one: a run that is killed loses at most the line being written, which the next run cuts off.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import OptionError
from ..writing import write_whole

Record = dict[str, Any]
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Kept:
    """Answers by key, in memory only."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}

    def get(self, key: str, prompt_hash: str) -> Record | None:
        """The record of a key, if it was made for this prompt."""
        record = self.records.get(key)
        return record if record and record["prompt_hash"] == prompt_hash else None

    def add(self, key: str, record: Mapping[str, Any]) -> None:
        self.records[key] = {"key": key, **record}


class KeptOnDisk(Kept):
    """Answers in a file."""

    def __init__(self, path: Path, made_with: Mapping[str, Any]):
        super().__init__()
        self.path = path
        lines = read_lines(path)
        if lines:
            refuse_difference(path, lines[0], made_with)
        self.records = {line["key"]: line for line in lines[1:]}
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        if not lines:
            self._append(dict(made_with))

    def get(self, key: str, prompt_hash: str) -> Record | None:
        found = super().get(key, prompt_hash)
        if found is None and key in self.records:
            raise OptionError(
                f"{self.path}: sample {key} was made for another prompt; "
                "the task's text or its data has changed, so use another folder"
            )
        return found

    def add(self, key: str, record: Mapping[str, Any]) -> None:
        self._append({"key": key, **record})
        super().add(key, record)

    def _append(self, line: Record) -> None:
        before = os.fstat(self.file).st_size
        data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
        try:
            if os.write(self.file, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self.file)
        except OSError as error:
            os.ftruncate(self.file, before)
            raise no_space(self.path, error) from None

    def __enter__(self) -> KeptOnDisk:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.file)


def read_lines(path: Path) -> list[Record]:
    """The lines of a file; an unfinished last one is cut off."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        os.truncate(path, len(whole))
    lines = []
    for number, line in enumerate(whole.decode("utf-8", "replace").split("\n")[:-1], 1):
        try:
            lines.append(json.loads(line))
        except ValueError:
            raise OptionError(f"{path}: line {number} is not JSON; the file was changed") from None
    return lines


def refuse_difference(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """An `OptionError` that names the first thing that differs."""
    wanted = json.loads(json.dumps(wanted))
    for name in dict.fromkeys([*wanted, *found]):
        if found.get(name) != wanted.get(name):
            raise OptionError(
                f"{path} holds results of another configuration: {name} is "
                f"{found.get(name)!r} there and {wanted.get(name)!r} here; use another folder"
            )


def no_space(path: Path, error: OSError) -> OptionError:
    """What is said when a file cannot be written."""
    if error.errno in FULL:
        return OptionError(f"{path}: no space left; what was written before is kept")
    return OptionError(f"{path} cannot be written ({error.strerror})")


def write(path: Path, text: str) -> None:
    """Write a whole file, or leave the one that is there."""
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise no_space(path, error) from None


class Folder:
    """A folder of results: of one configuration, and written by one run at a time."""

    def __init__(self, path: Path, made_with: Mapping[str, Any]):
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self.lock = os.open(path / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise no_space(path, error) from None
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._check(path / "run.json", made_with)
        except BlockingIOError:
            os.close(self.lock)
            raise OptionError(f"{path} is being written by another run") from None
        except BaseException:
            os.close(self.lock)
            raise

    def _check(self, path: Path, made_with: Mapping[str, Any]) -> None:
        if path.exists():
            try:
                found = json.loads(path.read_text())
            except ValueError:
                raise OptionError(f"{path} is not JSON; the file was changed") from None
            refuse_difference(path, found, made_with)
        else:
            write(path, json.dumps(made_with, indent=2) + "\n")

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.lock)
