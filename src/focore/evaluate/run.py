"""Tasks x methods x lengths, through lm-evaluation-harness, into a folder."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..tasks import catalogue, sandbox
from .cell import Cell, Row, prompts_hash, row_of, samples_of
from .evaluation import Evaluation
from .keeping import Folder, KeptOnDisk, write
from .provenance import git_commit
from .report import write_table

FEWSHOT_SEED = 1234  # lm-eval's own default


@dataclass(frozen=True)
class Result:
    """A finished cell."""

    row: Row
    record: dict[str, Any]
    samples: list[dict[str, Any]]
    lm_eval: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return {"row": self.row.as_dict(), "record": self.record, "lm_eval": self.lm_eval}


def evaluate(asked: Evaluation, folder: str | Path | None = None) -> list[Result]:
    """Evaluate every cell; with a folder, what is there is not computed again."""
    manager = catalogue.manager(list(asked.tasks), asked.data)
    cells = asked.cells()
    for cell in cells:
        asked.harness(cell)  # every option is checked before anything is computed
    place = Path(folder) if folder is not None else None
    with quiet(), Folder(place, asked.made_with()) if place else nullcontext():
        results, loaded = [], {}
        for cell in cells:
            if cell.task not in loaded:
                loaded = {cell.task: catalogue.load(cell.task, manager)}
            results.append(_one(asked, cell, loaded[cell.task], place))
        if place:
            write_table(place)
    return results


def _one(asked: Evaluation, cell: Cell, tasks: Mapping[str, Any], place: Path | None) -> Result:
    made = asked.harness(cell)
    header = header_of(cell, made.plan(cell.gen_length).options, tasks)
    if place is None:
        return _finish(asked, cell, made, header, tasks)
    with KeptOnDisk(place / f"{cell.name}.jsonl", header) as kept:
        made.kept = kept
        result = _finish(asked, cell, made, header, tasks)
    lines = [json.dumps(sample, ensure_ascii=False) for sample in result.samples]
    write(place / f"{cell.name}.samples.jsonl", "\n".join(lines) + "\n")
    text = json.dumps(result.as_dict(), indent=2, ensure_ascii=False, default=str)
    write(place / f"{cell.name}.json", text + "\n")
    return result


def header_of(cell: Cell, options: Mapping[str, Any], tasks: Mapping[str, Any]) -> dict[str, Any]:
    """What the answers of a cell were made with, beside what the folder says."""
    return {
        "task": cell.task,
        "task_versions": {name: task.VERSION for name, task in tasks.items()},
        "method": cell.method,
        "gen_length": cell.gen_length,
        "options": dict(options),
    }


def _finish(
    asked: Evaluation, cell: Cell, made: Any, header: dict[str, Any], tasks: Mapping[str, Any]
) -> Result:
    """Run lm-eval on a cell, and gather what it found."""
    found = harness_results(made, asked, tasks)
    records = made.kept.records
    samples, scores = samples_of(found, records)
    keys = {sample["key"] for sample in samples}
    used = [record for key, record in records.items() if key in keys]
    row = row_of(cell, scores, sorted(used, key=lambda record: str(record["key"])))
    record = {
        **asked.made_with(),
        **header,
        "revision": asked.model.revision,
        "limit": asked.limit,
        "data": asked.data,
        "prompts_hash": prompts_hash(samples),
        "batch_size": asked.batch_size,
        "git_commit": git_commit(),
        "sandbox": _sandbox(cell),
    }
    return Result(row, record, samples, _plain(found))


def harness_results(made: Any, asked: Evaluation, tasks: Mapping[str, Any]) -> dict[str, Any]:
    """What lm-eval's `simple_evaluate` does with tasks that are already loaded.

    That function itself would also take stock of the whole machine, some 20 seconds each time.
    """
    from lm_eval import evaluate as run_tasks

    for task in tasks.values():
        if task.get_config("num_fewshot") is None:
            task.set_config(key="num_fewshot", value=0)
        task.set_fewshot_seed(seed=FEWSHOT_SEED)
    found: dict[str, Any] = run_tasks(
        lm=made,
        task_dict={"tasks": dict(tasks)},
        limit=asked.limit,
        apply_chat_template=asked.templated,
        fewshot_as_multiturn=True,
        confirm_run_unsafe_code=asked.allow_code,
        bootstrap_iters=1000,
        log_samples=True,
    )
    return found


def _sandbox(cell: Cell) -> dict[str, Any] | None:
    if catalogue.full_name(cell.task) not in catalogue.CODE:
        return None
    verdict = sandbox.check()
    return {"walls": list(verdict.walls), "missing": list(verdict.missing)}


def _plain(found: Mapping[str, Any]) -> dict[str, Any]:
    """lm-eval's results without the samples and without what changes from run to run."""
    kept = ("results", "groups", "configs", "versions", "n-shot", "higher_is_better", "n-samples")
    plain: dict[str, Any] = json.loads(
        json.dumps({name: found[name] for name in kept if name in found}, default=_name)
    )
    return plain


def _name(value: Any) -> str:
    return str(getattr(value, "__qualname__", type(value).__name__))


@contextmanager
def quiet() -> Iterator[None]:
    """lm-eval and the Hub say much that is not for the user of a command."""
    names = ("lm_eval", "huggingface_hub", "datasets", "transformers")
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
