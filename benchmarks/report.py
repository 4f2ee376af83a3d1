"""docs/results.md, from what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .markers import between
from .statistics import mcnemar, p_value, wilson

Rows = Sequence[Mapping[str, Any]]
Found = dict[tuple[str, str, str], Rows]  # (task, table, setting) -> a row per problem

TITLES = {
    "main": "All methods",
    "w": "Guidance scale w",
    "K": "Core tokens K",
    "m": "Parallel tokens m of FoCore_A",
    "block": "Block length",
}
INTRODUCTION = """# Results on the shipped model

Written by `python -m benchmarks.quality`. Temperature 0, {length} tokens in one block unless said
otherwise, steps = length, every other option at its default: nothing was tuned on these problems.
They are held out by problem, not by wording; the public Countdown test has 256. Brackets are 95%
intervals (Wilson). p-values are McNemar's, exact and two-sided, on the same problems as
`confidence` and `cfg` with default options; with this many comparisons a single small one means
little. `greedy` is `margin` at temperature 0; `prophet` exits early only where it is told in which
positions the answer stands, and is `confidence` without. Seconds are a problem's share of the
time, in batches of {batch} on one core of a shared machine: passes are the better measure of cost.

What differs from the paper: a model of a few million parameters instead of 8B, short answers that
fit in one block, and tasks that it was trained on. The ablations take fewer problems: they show
where something breaks, not differences of a few points.
"""


def write_report(path: Path, found: Found, length: int, batch: int) -> None:
    """Write what there is so far, measured with answers of `length` in batches of `batch`."""
    parts = [INTRODUCTION.format(length=length, batch=batch)]
    for table, title in TITLES.items():
        tasks = dict.fromkeys(task for task, name, _ in found if name == table)
        for task in tasks:
            rows = {s: r for (t, name, s), r in found.items() if (t, name) == (task, table)}
            others = [found.get((task, "main", other)) for other in ("confidence", "cfg")]
            parts.append(f"## {title}: {task}\n\n{_table(rows, others, batch)}\n")
    path.write_text("\n".join(parts))


def fill_page(path: Path, found: Found) -> None:
    """Put the shares of the main table between a page's markers."""
    between(path, "results", _summary(found))


def _summary(found: Found) -> str:
    """A line per method: share solved of each task with its interval, passes per problem."""
    tasks = list(dict.fromkeys(task for task, table, _ in found if table == "main"))
    methods = dict.fromkeys(name for _, table, name in found if table == "main")
    lines = ["| method | " + " | ".join(tasks) + " | passes |"]
    lines.append("| --- |" + " ---: |" * (len(tasks) + 1))
    for method in methods:
        each = [found.get((task, "main", method)) for task in tasks]
        rows = [row for rows in each if rows for row in rows]
        passes = sum(row["passes"] for row in rows) / len(rows)
        cells = [_share(rows) if rows else "" for rows in each]
        lines.append(f"| `{method}` | " + " | ".join(cells) + f" | {passes:.1f} |")
    return "\n".join(lines)


def _share(rows: Rows) -> str:
    right = sum(bool(row["right"]) for row in rows)
    low, high = wilson(right, len(rows))
    return f"{right / len(rows):.1%} [{low:.1%}, {high:.1%}]"


def _table(settings: Mapping[str, Rows], others: Sequence[Rows | None], batch: int) -> str:
    head = "| setting | problems | solved | p against confidence | p against cfg | steps | passes "
    lines = [head + "| seconds |", "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for name, rows in settings.items():
        right = [bool(row["right"]) for row in rows]
        against = [_against(right, other) for other in others]
        means = [
            sum(row[key] for row in rows) / len(rows) for key in ("steps", "passes", "seconds")
        ]
        lines.append(
            f"| `{name}` | {len(rows)} | {_share(rows)} | {against[0]} | {against[1]} "
            f"| {means[0]:.1f} | {means[1]:.1f} | {means[2] / batch:.3f} |"
        )
    return "\n".join(lines)


def _against(right: Sequence[bool], other: Rows | None) -> str:
    if other is None or len(other) < len(right):
        return ""
    return p_value(mcnemar(right, [bool(row["right"]) for row in other[: len(right)]]))
