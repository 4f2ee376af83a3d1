"""Figures measured side by side: ratios with their spread, targets, JSON and Markdown."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from .markers import between

HEAD = "| what | median | range | target | |\n| --- | ---: | ---: | --- | --- |"


@dataclass(frozen=True)
class Figure:
    """One line of a table: a value of every repeat, and what it should reach."""

    name: str
    values: list[float]
    at_least: float | None = None
    at_most: float | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def target(self) -> str:
        if self.at_least is not None:
            return f"at least {self.at_least:g}"
        return "" if self.at_most is None else f"at most {self.at_most:g}"

    @property
    def reached(self) -> bool | None:
        """Whether the median reaches the target; None without one."""
        if self.at_least is not None:
            return self.median >= self.at_least
        return None if self.at_most is None else self.median <= self.at_most

    def line(self) -> str:
        verdict = {None: "", True: "reached", False: "**not reached**"}[self.reached]
        spread = f"{min(self.values):.2f}-{max(self.values):.2f}"
        return f"| {self.name} | {self.median:.2f} | {spread} | {self.target} | {verdict} |"


def timed(call: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def interleaved(calls: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each call, taken in turns so that a busy moment falls on all of them."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            found[name].append(timed(call))
    return found


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """The ratio within each repeat."""
    return [a / b for a, b in zip(above, below, strict=True)]


def matmul_peak(size: int = 1024, seconds: float = 2.0) -> float:
    """The machine's own float32 matrix products, in GFLOP/s."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    rates = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        rates.append(2 * size**3 / timed(lambda: a @ b) / 1e9)
    return max(rates)


def machine() -> dict[str, object]:
    """Where it was measured."""
    return {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "machine": platform.machine(),
        "date": time.strftime("%Y-%m-%d"),
    }


def write(sections: Mapping[str, Sequence[Figure]], peak: float, json_to: Path, page: Path) -> None:
    """All figures as JSON, and as tables between the markers of a page."""
    where = machine()
    found = {
        title: [{**asdict(f), "median": f.median, "reached": f.reached} for f in figures]
        for title, figures in sections.items()
    }
    json_to.parent.mkdir(parents=True, exist_ok=True)
    whole = {"machine": where, "matmul GFLOP/s": round(peak, 1), "figures": found}
    json_to.write_text(json.dumps(whole, indent=1) + "\n")
    said = (
        f"Measured {where['date']} with PyTorch {where['torch']} on {where['threads']} threads "
        f"({where['machine']}); float32 matrix products {peak:.0f} GFLOP/s."
    )
    parts = [said]
    for title, figures in sections.items():
        lines = "\n".join(figure.line() for figure in figures)
        parts.append(f"### {title}\n\n{HEAD}\n{lines}")
    between(page, "speed", "\n\n".join(parts))
