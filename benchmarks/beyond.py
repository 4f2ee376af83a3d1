"""What the options beyond the paper cost in problems solved, on the shipped model.

    python -m benchmarks.beyond RESULTS [--problems 1000] [--model tiny]

Caches, a contrast that spares its second pass, and both, beside exact FoCore and `confidence`, on
held-out test problems of all three tasks. As `benchmarks.quality` it can be stopped and goes on; in
the same folder it takes over what was measured there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import focore
from focore.train import Problem, held_out

from .markers import between
from .quality import Setting, Store, measure
from .statistics import mcnemar, p_value, wilson

TASKS = ("countdown", "words", "arithmetic")
HEAD = (
    "| setting | solved | points against exact | p | points against confidence | p "
    "| passes | of exact | target | |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |"
)
OPTIONS: dict[str, dict[str, Any]] = {
    "": {},
    "prefix cache": {"cache": "prefix"},
    "dual cache": {"cache": "dual"},
    "auto": {"contrast": "auto"},
    "auto, prefix cache": {"contrast": "auto", "cache": "prefix"},
    "auto, dual cache": {"contrast": "auto", "cache": "dual"},
}
# Chosen on the dev split: burst early, where masks are sure and S is still, and not late.
EARLY = {"burst": "repeat", "convergence_threshold": 0.001}


def settings() -> Iterator[tuple[str, Setting]]:
    """Name and setting of each line."""
    yield "confidence", Setting("beyond", "confidence")
    for method in ("focore", "focore_a"):
        for name, options in OPTIONS.items():
            yield f"{method}, {name}".rstrip(", "), Setting("beyond", method, options)
    for name in ("auto", "auto, dual cache"):
        options = {**OPTIONS[name], **EARLY}
        yield f"focore_a, {name}, early bursts", Setting("beyond", "focore_a", options)


def tasks(count: int) -> dict[str, list[Problem]]:
    """Held-out test problems, as many of each task."""
    return {task: held_out(task, "test", -(-count // len(TASKS))) for task in TASKS}


@dataclass(frozen=True)
class Line:
    """A setting beside exact decoding by its method and beside `confidence`."""

    name: str
    right: list[bool]
    passes: float
    exact: Line | None = None
    plain: Line | None = None

    @property
    def share(self) -> float:
        return sum(self.right) / len(self.right)

    def points(self, other: Line | None) -> tuple[float, float] | None:
        """The difference in points, and McNemar's p."""
        if other is None:
            return None
        return 100 * (self.share - other.share), mcnemar(self.right, other.right)

    @property
    def target(self) -> tuple[str, bool] | None:
        """What the line should reach, and whether it does."""
        if self.exact is None or self.plain is None:
            return None
        fewer = self.passes < self.plain.passes and self.share >= self.plain.share
        both = "cache" in self.name or "early" in self.name
        if self.name.startswith("focore_a, auto") and both:
            return "fewer passes than confidence, no fewer solved", fewer
        close = 100 * (sum(self.exact.right) - sum(self.right)) <= len(self.right)
        if "auto" in self.name and "cache" not in self.name:
            saved = self.passes <= 0.7 * self.exact.passes
            return "30% fewer passes within 1 point of exact", saved and close
        return "within 1 point of exact", close

    def markdown(self) -> str:
        low, high = wilson(sum(self.right), len(self.right))
        cells = [f"`{self.name}`", f"{self.share:.1%} [{low:.1%}, {high:.1%}]"]
        for found in (self.points(self.exact), self.points(self.plain)):
            cells += ["", ""] if found is None else [f"{found[0]:+.1f}", p_value(found[1])]
        of_exact = f"{self.passes / self.exact.passes:.0%}" if self.exact else ""
        cells += [f"{self.passes:.1f}", of_exact]
        target, reached = self.target or ("", None)
        cells += [target, {None: "", True: "reached", False: "**not reached**"}[reached]]
        return "| " + " | ".join(cells) + " |"


def compared(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Line]:
    """A line for each setting, beside those it is compared with."""
    lines: dict[str, Line] = {}
    for name, rows in found.items():
        passes = sum(row["passes"] for row in rows) / len(rows)
        method = name.split(",")[0]
        exact = lines.get(method) if name != method else None
        right = [bool(row["right"]) for row in rows]
        lines[name] = Line(name, right, passes, exact, lines.get("confidence"))
    return list(lines.values())


def report(lines: Sequence[Line], page: Path, numbers: Path) -> None:
    """The table of docs/performance.md, and the same as JSON."""
    table = "\n".join([HEAD, *(line.markdown() for line in lines)])
    count = len(lines[0].right)
    between(page, "beyond", f"{count} held-out problems, a third of each task.\n\n{table}")
    whole = [
        {"name": line.name, "solved": line.share, "passes": line.passes, "target": line.target}
        for line in lines
    ]
    numbers.parent.mkdir(parents=True, exist_ok=True)
    numbers.write_text(json.dumps({"problems": count, "lines": whole}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--page", type=Path, default=Path("docs/performance.md"))
    given = parser.parse_args()
    model = focore.load(given.model)
    store = Store.of(given.results, model)
    found: dict[str, list[dict[str, Any]]] = {}
    for name, setting in settings():
        found[name] = []
        for task, problems in tasks(given.problems).items():
            found[name] += measure(model, store, task, problems, setting)
        print(compared(found)[-1].markdown(), flush=True)
    report(compared(found), given.page, given.page.parent / "performance" / "beyond.json")


if __name__ == "__main__":
    main()
