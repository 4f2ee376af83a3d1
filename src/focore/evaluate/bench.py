"""The paper's tables on any model: run a preset, set it beside the paper, draw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .keeping import write
from .published import MODELS, figure
from .report import HEADS, PLAIN, method_of, table

STEP_SPEED = "step speed-up"


def comparison(rows: Sequence[Mapping[str, Any]], about: str) -> str:
    """The rows in Markdown, with steps saved over the plain method, beside the paper's figures."""
    heads = [*HEADS, STEP_SPEED, *(f"paper, {name}" for name in MODELS.values())]
    plain = {(r["task"], r["gen_length"]): r["steps"] for r in rows if r["method"] == PLAIN}
    lines = [heads, ["---"] * 3 + ["---:"] * (len(heads) - 3)]
    for row, cells in zip(rows, table(rows), strict=True):
        steps = plain.get((row["task"], row["gen_length"]))
        speed = f"{steps / row['steps']:.2f}x" if steps and row["steps"] else ""
        said = [figure(family, row) for family in MODELS]
        lines.append([*cells, speed, *("" if one is None else f"{one:.2f}" for one in said)])
    return f"{about}.\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def draw(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Accuracy against passes, one picture for each task; none without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    picture = Figure(figsize=(5 * len(tasks), 4), layout="constrained")
    for place, task in enumerate(tasks, 1):
        axes = picture.add_subplot(1, len(tasks), place, title=task)
        axes.set_xlabel("forward passes a sample")
        axes.set_ylabel("accuracy, %")
        for row in rows:
            if row["task"] == task:
                _point(axes, row)
    picture.savefig(path, dpi=150)


def _point(axes: Any, row: Mapping[str, Any]) -> None:
    height = 100 * row["accuracy"]
    axes.errorbar(row["passes"], height, 100 * row["stderr"], fmt="o", capsize=2)
    axes.annotate(
        f"{method_of(row)} {row['gen_length']}",
        (row["passes"], height),
        textcoords="offset points",
        xytext=(4, 4),
        fontsize=7,
    )


def write_bench(folder: Path, name: str, about: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the table and the picture of a preset."""
    write(folder / f"{name}.md", comparison(rows, about))
    draw(rows, folder / f"{name}.png")
