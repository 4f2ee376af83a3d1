"""One cell of the table: a task by a method at a length."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..errors import OptionError
from ..tasks.catalogue import metric_of
from .keeping import Record
from .provenance import hash_of


@dataclass(frozen=True)
class Cell:
    """What is asked for."""

    task: str
    method: str
    gen_length: int
    options: dict[str, Any] = field(default_factory=dict)  # those that were said
    variant: str = ""  # what sets it apart from others of the same task, method and length

    def varied(self, option: str, value: Any) -> Cell:
        """The same cell with another value of an option."""
        variant = ",".join(filter(None, [self.variant, f"{option}={value}"]))
        return replace(self, options={**self.options, option: value}, variant=variant)

    @property
    def name(self) -> str:
        name = f"{self.task}.{self.method}.{self.gen_length}"
        return f"{name}.{self.variant}" if self.variant else name


@dataclass(frozen=True)
class Row:
    """What came out: means per sample, and accuracy with its standard error."""

    task: str
    method: str
    gen_length: int
    accuracy: float
    stderr: float
    samples: int
    steps: float
    passes: float
    seconds: float
    tokens_per_second: float  # of generated tokens, up to the end token
    variant: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def row_of(cell: Cell, scores: Sequence[float], records: Sequence[Record]) -> Row:
    """Fold the scores and costs of samples into a row."""
    if not scores:
        raise OptionError(f"task {cell.task!r} has no samples")
    count = len(scores)
    mean = sum(scores) / count
    spread = sum((score - mean) ** 2 for score in scores)
    stderr = math.sqrt(spread / (count - 1) / count) if count > 1 else 0.0
    costs = {name: [record.get(name, 0) for record in records] for name in COSTS}
    means = {name: sum(values) / max(1, len(values)) for name, values in costs.items()}
    spent = sum(costs["seconds"])
    return Row(
        cell.task,
        cell.method,
        cell.gen_length,
        mean,
        stderr,
        count,
        means["steps"],
        means["passes"],
        means["seconds"],
        sum(costs["generated"]) / spent if spent else 0.0,
        cell.variant,
    )


COSTS = ("steps", "passes", "seconds", "generated")


def samples_of(
    results: Mapping[str, Any], records: Mapping[str, Record]
) -> tuple[list[dict[str, Any]], list[float]]:
    """Every sample with its prompt, output, cost and score, and the scores alone.

    A task may score each sample by several filters; the first one counts.
    """
    samples, scores = [], []
    for task, logged in results["samples"].items():
        first = logged[0]["filter"]
        for sample in logged:
            if sample["filter"] != first:
                continue
            metric = metric_of(sample)
            key = f"{task}/{sample['doc_id']}/0/0"
            record = records.get(key, {})
            scores.append(_number(sample[metric]))
            samples.append(
                {
                    "task": task,
                    "id": sample["doc_id"],
                    "key": key,
                    "prompt": str(sample["arguments"][0][0]),
                    "target": sample["target"],
                    "output": sample["resps"][0][0],
                    "score": scores[-1],
                    "trace": {name: record.get(name) for name in COSTS},
                    "document_hash": sample["doc_hash"],
                }
            )
    return samples, scores


def _number(value: Any) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    raise OptionError("this task has no score of its own for each sample")


def prompts_hash(samples: Sequence[Mapping[str, Any]]) -> str:
    """One hash for all prompts and documents, in order."""
    return hash_of(*(f"{sample['prompt']}\n{sample['document_hash']}" for sample in samples))
