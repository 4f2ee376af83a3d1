"""The problems of each benchmark, from a folder or from the Hub, as `custom_dataset` of the files.

A folder holds the benchmarks' own files, unchanged: see FILES.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import OptionError, first_line

FILES = {
    "gsm8k": "gsm8k_test.jsonl",
    "math500": "math500_test.jsonl",
    "humaneval": "humaneval.jsonl.gz",
    "mbpp": "mbpp.jsonl",
    "svamp": "svamp.json",
    "countdown": "countdown_cd3_test.jsonl",
}
FIELDS = {
    "gsm8k": ("question", "answer"),
    "math500": ("problem", "solution"),
    "humaneval": ("task_id", "prompt", "entry_point", "canonical_solution", "test"),
    "mbpp": ("task_id", "text", "code", "test_list", "test_setup_code"),
    "svamp": ("Body", "Question", "Answer"),
    "countdown": ("input", "output"),
}
HUB: dict[str, tuple[str, str | None, tuple[str, ...]]] = {  # repository, configuration, splits
    "gsm8k": ("openai/gsm8k", "main", ("test",)),
    "math500": ("HuggingFaceH4/MATH-500", None, ("test",)),
    "humaneval": ("openai/openai_humaneval", None, ("test",)),
    "mbpp": ("google-research-datasets/mbpp", "full", ("test",)),
    "svamp": ("ChilleD/SVAMP", None, ("train", "test")),
}
MBPP_TEST = range(11, 511)
HELD_OUT = 1000  # problems of each of the shipped model's own tasks

Doc = dict[str, Any]


def load(name: str, data: str | Path | None) -> list[Doc]:
    """The test problems of a benchmark, with the fields of FIELDS only."""
    docs = [*_from_hub(name)] if data is None else [*_from_folder(name, Path(data))]
    if name == "mbpp":
        docs = [doc for doc in docs if doc["task_id"] in MBPP_TEST]
    if name == "svamp":
        docs = [{**doc, "Answer": str(doc["Answer"])} for doc in docs]
    return docs


def _from_folder(name: str, folder: Path) -> Iterator[Doc]:
    path = folder / FILES[name]
    if not folder.is_dir():
        raise OptionError(f"--data {folder} is not a folder")
    if not path.is_file():
        raise OptionError(f"{path} is not there; {name} reads its problems from that file")
    count = 0
    for place, doc in _entries(path):
        if not isinstance(doc, dict):
            raise OptionError(f"{path}: {place} is not an object")
        for field in FIELDS[name]:
            if field not in doc:
                raise OptionError(f"{path}: {place} has no field {field!r}")
        count += 1
        yield {field: doc[field] for field in FIELDS[name]}
    if not count:
        raise OptionError(f"{path} has no problems in it")


def _entries(path: Path) -> Iterator[tuple[str, Any]]:
    """Each entry of a file, and where it stands."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise OptionError(f"{path} cannot be read ({error})") from None
    if path.name.endswith(".json"):
        yield from ((f"entry {i}", entry) for i, entry in enumerate(_whole(path, text), 1))
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except ValueError as error:
                raise OptionError(f"{path}: line {number} is not JSON ({error})") from None


def _whole(path: Path, text: str) -> list[Any]:
    try:
        entries = json.loads(text)
    except ValueError as error:
        raise OptionError(f"{path} is not JSON ({error})") from None
    if not isinstance(entries, list):
        raise OptionError(f"{path} is not a list of problems")
    return entries


def _from_hub(name: str) -> Iterator[Doc]:
    if name not in HUB:
        raise OptionError(f"{name} is not on the Hub; give the folder with {FILES[name]} by --data")
    import datasets

    repository, configuration, splits = HUB[name]
    for split in splits:
        try:
            part = datasets.load_dataset(repository, configuration, split=split)
        except Exception as error:  # the network, the Hub and the cache fail in many ways
            said = first_line(error)
            raise OptionError(
                f"{name} cannot be had from the Hub ({said}); a folder can be given by --data"
            ) from None
        for doc in part:
            yield {field: doc[field] for field in FIELDS[name]}


def _dataset(docs: Sequence[Doc]) -> dict[str, Any]:
    import datasets

    return {"test": datasets.Dataset.from_list(list(docs))}


def gsm8k(data: str | None = None, **_: Any) -> dict[str, Any]:
    return _dataset(load("gsm8k", data))


def math500(data: str | None = None, **_: Any) -> dict[str, Any]:
    return _dataset(load("math500", data))


def humaneval(data: str | None = None, **_: Any) -> dict[str, Any]:
    return _dataset(load("humaneval", data))


def mbpp(data: str | None = None, **_: Any) -> dict[str, Any]:
    return _dataset(load("mbpp", data))


def svamp(data: str | None = None, **_: Any) -> dict[str, Any]:
    return _dataset(load("svamp", data))


def countdown(data: str | None = None, **_: Any) -> dict[str, Any]:
    return _dataset(load("countdown", data))


def held_out(kind: str, **_: Any) -> dict[str, Any]:
    """Problems of the shipped model's own tasks that it was not trained on."""
    return _dataset(_held_out(kind))


@cache
def _held_out(kind: str) -> list[Doc]:
    from ..train.problems import held_out as problems

    return [asdict(problem) for problem in problems(kind, "test", HELD_OUT)]
