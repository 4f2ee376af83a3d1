"""How well each method decodes on the shipped model: problems solved, steps, passes, seconds.

    python -m benchmarks.quality RESULTS [--data DIR] [--problems 1000] [--only NAME ...]

Problems are written down as soon as their batch is done, and nothing is computed twice: run it
again to go on. Processes with other `--only` names may share a folder. Each run writes
docs/results.md from all that is there. Every option is at its default, in the ablations all but
one: nothing was chosen on test problems.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import focore
from focore.evaluate.provenance import weights_hash
from focore.train import Problem, correct, countdown, held_out

from .report import TITLES, Found, fill_page, write_report

LENGTH = 32  # tokens, one block, steps = length
BATCH = 32
# `greedy` is `margin` at temperature 0, token for token.
METHODS = ("confidence", "cfg", "focore", "focore_a", "random", "margin", "entropy", "origin")
METHODS += ("acfg", "klass", "prophet", "threshold", "factor", "soar", "mask_hd", "mask_ld")
ABLATED = ("words", "countdown (public)")  # the paper has SVAMP and Countdown


@dataclass(frozen=True)
class Setting:
    """One row of a table: a method with options that are not the defaults."""

    table: str
    method: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Method and options; one at its default is left out, so that it is measured once."""
        own = focore.METHODS[self.method].options
        defaults = {"block_length": LENGTH, **{key: own[key].default for key in own}}
        other = {k: value for k, value in self.options.items() if defaults.get(k) != value}
        return "-".join([self.method, *(f"{key}={value}" for key, value in other.items())])

    @property
    def label(self) -> str:
        """Method and the options that the table varies."""
        return " ".join([self.method, *(f"{key}={value}" for key, value in self.options.items())])


def settings() -> Iterator[Setting]:
    """The main table and the paper's ablations."""
    for method in METHODS:
        yield Setting("main", method)
    for w in (0.1, 0.2, 0.3, 0.4, 0.5):
        yield Setting("w", "focore", {"guidance_scale": w})
    for k in (2, 4, 6, 8, 10):
        yield Setting("K", "focore", {"core_tokens": k})
    for m in range(15):
        yield Setting("m", "focore_a", {"parallel_tokens": m})
    for block in (4, 8, 16, 32):
        for method in ("confidence", "focore"):
            yield Setting("block", method, {"block_length": block})


def tasks(data: Path | None, count: int) -> dict[str, list[Problem]]:
    """Held-out problems by task, and the public Countdown test if its file is at hand."""
    found = {task: held_out(task, "test", count) for task in ("countdown", "words", "arithmetic")}
    if data is not None:
        lines = (data / "countdown_cd3_test.jsonl").read_text().splitlines()
        found["countdown (public)"] = [_public(json.loads(line)) for line in lines]
    return found


def _public(item: dict[str, str]) -> Problem:
    numbers = [int(number) for number in item["input"].split(",")]
    return Problem("countdown", countdown.prompt(numbers, int(item["output"])), "", item["input"])


@dataclass
class Store:
    """What has been measured, one file per task and setting, one line per problem."""

    folder: Path

    @classmethod
    def of(cls, folder: Path, model: focore.Model) -> Store:
        """The store of a model's results; one of other weights or another length is refused."""
        about = json.dumps({"weights": weights_hash(model.folder), "length": LENGTH})
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "about.json"
        if path.exists() and path.read_text() != about:
            raise SystemExit(f"{folder} has results of another model or length; name another one")
        path.write_text(about)
        return cls(folder)

    def read(self, task: str, setting: Setting) -> list[dict[str, Any]]:
        path = self._path(task, setting)
        if not path.exists():
            return []
        lines = path.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def append(self, task: str, setting: Setting, rows: Sequence[dict[str, Any]]) -> None:
        path = self._path(task, setting)
        whole = [json.dumps(row) + "\n" for row in [*self.read(task, setting), *rows]]
        beside = path.with_suffix(".new")
        beside.write_text("".join(whole))
        beside.replace(path)

    def _path(self, task: str, setting: Setting) -> Path:
        return self.folder / f"{task.replace(' ', '-')}--{setting.name}.jsonl"


def measure(
    model: focore.Model, store: Store, task: str, problems: Sequence[Problem], setting: Setting
) -> list[dict[str, Any]]:
    """The rows of a setting, those that are missing computed now."""
    rows = store.read(task, setting)
    while len(rows) < len(problems):
        batch = problems[len(rows) : len(rows) + 8 * BATCH]
        options = {"gen_length": LENGTH, "block_length": LENGTH, **setting.options}
        made = focore.generate(
            model, [p.prompt for p in batch], method=setting.method, batch_size=BATCH, **options
        )
        store.append(task, setting, [_row(p, c) for p, c in zip(batch, made, strict=True)])
        rows = store.read(task, setting)
    return rows[: len(problems)]


def _row(problem: Problem, made: focore.Completion) -> dict[str, Any]:
    return {
        "right": correct(problem, made.text),
        "text": made.text,
        "steps": made.steps,
        "passes": made.passes,
        "seconds": made.seconds,
    }


def wanted(
    everything: Mapping[str, Sequence[Problem]], ablation_problems: int
) -> Iterator[tuple[str, Setting, Sequence[Problem]]]:
    """What belongs in the report: task, setting, problems."""
    for setting in settings():
        for task, problems in everything.items():
            if setting.table == "main":
                yield task, setting, problems
            elif task in ABLATED:
                yield task, setting, problems[:ablation_problems]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--data", type=Path, help="where countdown_cd3_test.jsonl is")
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--ablation-problems", type=int, default=250)
    parser.add_argument("--table", nargs="*", default=list(TITLES), choices=list(TITLES))
    parser.add_argument("--only", nargs="*", help="methods to measure; the report has all")
    parser.add_argument("--report", type=Path, default=Path("docs/results.md"))
    parser.add_argument(
        "--pages", type=Path, nargs="*", default=[], help="pages with markers for the main table"
    )
    given = parser.parse_args()
    model = focore.load(given.model)
    store = Store.of(given.results, model)
    items = list(wanted(tasks(given.data, given.problems), given.ablation_problems))
    for task, setting, problems in items:
        if setting.table in given.table and (not given.only or setting.method in given.only):
            solved = [row["right"] for row in measure(model, store, task, problems, setting)]
            print(f"{setting.table} {setting.name} {task}: {sum(solved)}/{len(solved)}", flush=True)
    found: Found = {}
    for task, setting, problems in items:
        rows = store.read(task, setting)[: len(problems)]
        if len(rows) == len(problems):
            found[task, setting.table, setting.label] = rows
    write_report(given.report, found, LENGTH, BATCH)
    for page in given.pages:
        fill_page(page, found)


if __name__ == "__main__":
    main()
