"""Does a result reproduce? Compute a sample of its answers again, and compare."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import OptionError
from ..loading import Model, load
from ..tasks import catalogue
from .cell import Cell
from .evaluation import Evaluation
from .keeping import Record, read_lines
from .provenance import versions, weights_hash
from .requests import keys_of
from .run import quiet

SAMPLES = 8
COMPARED = ("tokens", "output", "value")


@dataclass(frozen=True)
class Checked:
    """What came of a check."""

    samples: int
    same: int
    different: tuple[str, ...]  # the keys of answers that came out otherwise
    notes: tuple[str, ...]  # what else is not as it was

    @property
    def reproduces(self) -> bool:
        return self.samples == self.same

    def __str__(self) -> str:
        word = "reproduces" if self.reproduces else "does not reproduce"
        said = f"{word}: {self.same} of {self.samples} samples are the same"
        return "; ".join([said, *self.notes])


def check(path: str | Path, samples: int = SAMPLES, model: Model | None = None) -> Checked:
    """Compute some answers of a cell's result file again."""
    path = Path(path)
    record = _read(path)
    kept = {line["key"]: line for line in read_lines(path.with_suffix(".jsonl"))[1:]}
    model = model or load(
        record["model"],
        dtype=record["dtype"],
        device=record["device"],
        revision=record.get("revision"),
    )
    notes = _notes(record, model)
    made, requests = _prepared(record, model)
    asked = {key for some in requests.values() for key in keys_of(some)}
    chosen = _spread(sorted(asked & kept.keys()), samples)
    if not chosen:
        raise OptionError(f"{path.with_suffix('.jsonl')} has no answers of {path.name} to compare")
    made.kept.records = {key: line for key, line in kept.items() if key not in chosen}
    with quiet():
        for kind, some in requests.items():
            getattr(made, kind)(some)
    different = [key for key in chosen if not _same(made.kept.records.get(key), kept[key])]
    return Checked(len(chosen), len(chosen) - len(different), tuple(different), notes)


def _read(path: Path) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(path.read_text())["record"]
    except OSError as error:
        raise OptionError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError):
        raise OptionError(
            f"{path} is not the result of one cell, such as gsm8k.focore.128.json"
        ) from None
    return record


def _notes(record: dict[str, Any], model: Model) -> tuple[str, ...]:
    notes = []
    if weights_hash(model.folder) != record["weights"]:
        notes.append("the weights are not those of the result")
    now = versions()
    for name, version in record["versions"].items():
        if now.get(name) != version:
            notes.append(f"{name} was {version} and is {now.get(name)}")
    return tuple(notes)


def _prepared(record: dict[str, Any], model: Model) -> tuple[Any, dict[str, list[Any]]]:
    """The model as lm-eval sees it, and all requests of the cell by kind."""
    options = {
        name: value
        for name, value in record["options"].items()
        if name not in ("gen_length", "prefix", "fixed")
    }
    cell = Cell(record["task"], record["method"], record["gen_length"], options)
    asked = Evaluation(
        model,
        [cell.task],
        [cell.method],
        [cell.gen_length],
        options=options,
        seed=record["seed"],
        chat=record["chat"],
        limit=record["limit"],
        data=record["data"],
        allow_code=True,  # nothing is run: answers are compared, not scored
        batch_size=record["batch_size"],
    )
    made = asked.harness(cell)
    requests: dict[str, list[Any]] = {}
    with quiet():
        manager = catalogue.manager([cell.task], asked.data)
        for task in catalogue.load(cell.task, manager).values():
            task.build_all_requests(
                limit=asked.limit,
                apply_chat_template=asked.templated,
                fewshot_as_multiturn=True,
                chat_template=made.apply_chat_template if asked.templated else None,
            )
            for request in task.instances:
                requests.setdefault(request.request_type, []).extend([request] * request.repeats)
    return made, requests


def _spread(keys: Sequence[str], count: int) -> list[str]:
    """At most `count` keys, spread evenly."""
    count = min(count, len(keys))
    return [keys[place * len(keys) // count] for place in range(count)]


def _same(now: Record | None, then: Record) -> bool:
    return now is not None and all(now.get(name) == then.get(name) for name in COMPARED)
