"""Tables of results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .keeping import write

PLAIN = "confidence"  # the method that speed is measured against
HEADS = (
    "task",
    "length",
    "method",
    "accuracy",
    "samples",
    "steps",
    "passes",
    "s/sample",
    "tokens/s",
    "speed-up",
)


def table(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The rows as text, the speed-up over the plain method where it is in the table."""
    plain = {
        (row["task"], row["gen_length"]): row["seconds"] for row in rows if row["method"] == PLAIN
    }
    return [
        [
            row["task"],
            str(row["gen_length"]),
            method_of(row),
            f"{100 * row['accuracy']:.2f} ± {100 * row['stderr']:.2f}",
            str(row["samples"]),
            f"{row['steps']:.1f}",
            f"{row['passes']:.1f}",
            f"{row['seconds']:.3f}",
            f"{row['tokens_per_second']:.1f}",
            _ratio(plain.get((row["task"], row["gen_length"])), row["seconds"]),
        ]
        for row in rows
    ]


def method_of(row: Mapping[str, Any]) -> str:
    """The method, with what sets it apart."""
    return f"{row['method']} {row['variant']}" if row.get("variant") else str(row["method"])


def _ratio(plain: float | None, seconds: float) -> str:
    return f"{plain / seconds:.2f}x" if plain and seconds else ""


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table in Markdown."""
    lines = [HEADS, ["---"] * 3 + ["---:"] * (len(HEADS) - 3), *table(rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_table(folder: Path) -> None:
    """Gather all finished cells of a folder in results.json and results.md."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*.*.*.json"))]
    rows = [result["row"] for result in found if "row" in result]
    rows.sort(key=lambda row: (row["task"], row["gen_length"], method_of(row)))
    run = json.loads((folder / "run.json").read_text())
    text = json.dumps({"run": run, "rows": rows}, indent=2, ensure_ascii=False)
    write(folder / "results.json", text + "\n")
    notes = f"Model {run['model']}, {run['dtype']} on {run['device']}, seed {run['seed']}.\n\n"
    write(folder / "results.md", notes + markdown(rows))
