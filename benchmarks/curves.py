"""How time and memory of a step grow: a CSV file and one plot an axis.

    python -m benchmarks.curves [--quick] [-o docs/performance] [--page docs/performance.md]

About eight minutes on two quiet cores. One axis is varied at a time from a base of width 256,
8 layers, vocabulary 8,192, prompt 128, generation 128, block 32, one row.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import focore
from focore.generation import Plan, Runner, row_seeds
from focore.model.memory import keep_freed_memory
from focore.model.transformer import Config, Native

from .figures import interleaved
from .markers import between
from .memory import allocated
from .shapes import BLOCK, random_prompt, random_transformer

BASE = Config(256, 8, 4, 4, 768, 8_192, 4096, 8_191)
UNITS = {"milliseconds": "milliseconds a step", "megabytes": "megabytes"}
STEPS = 3  # the first, without a step before it, and two like all others


@dataclass(frozen=True)
class Point:
    """One place on one axis."""

    axis: str
    value: int
    line: str
    method: str
    options: dict[str, Any] = field(default_factory=dict)
    prompt: int = 128
    length: int = 128
    rows: int = 1
    vocabulary: int = BASE.vocabulary


AXES: dict[str, tuple[str, Sequence[int]]] = {  # axis -> what it sets, its values
    "generation length": ("length", (64, 128, 256, 512, 1024)),
    "prompt length": ("prompt", (32, 128, 512, 1024)),
    "batch": ("rows", (1, 2, 4, 8, 16)),
    "vocabulary": ("vocabulary", (2_048, 8_192, 32_768, 126_464)),
}


def points() -> Iterator[Point]:
    """All that is measured."""
    for axis, (name, values) in AXES.items():
        for value in values:
            for method in ("confidence", "focore"):
                yield replace(Point(axis, value, method, method), **{name: value})
    for k in (1, 4, 8, 16, 32, 64):
        for cache in ("none", "dual"):
            options = {"core_tokens": k, "cache": cache}
            yield Point("core_tokens", k, f"focore, cache {cache}", "focore", options)
    for k in (16, 64, 256, 1024, 4096):
        yield Point("divergence_top_k", k, "focore", "focore", {"divergence_top_k": k})


@dataclass
class Models:
    """Random models by vocabulary, the last one kept."""

    config: Config
    last: focore.Model | None = None

    def of(self, vocabulary: int) -> focore.Model:
        if self.last is None or self.last.denoiser.vocabulary != vocabulary:
            config = replace(self.config, vocabulary=vocabulary, mask_id=vocabulary - 1)
            self.last = focore.Model("random", Native(random_transformer(config)), None)
        return self.last


def first_steps(model: focore.Model, point: Point) -> Callable[[], None]:
    """The first steps of a decode."""
    options = {"gen_length": point.length, "block_length": BLOCK, **point.options}
    plan = Plan.make(model, point.method, 0, options)
    prompts = [random_prompt(point.prompt, model, seed) for seed in range(point.rows)]
    rows = [plan.continuation(prompt, None) for prompt in prompts]

    def run() -> None:
        runner = Runner(plan)
        runner.admit(rows, row_seeds(0, rows), list(range(len(rows))))
        for _ in range(STEPS):
            runner.batch.step()

    return run


def measured(models: Models, point: Point, repeats: int) -> dict[str, Any]:
    """A line of the CSV file: milliseconds a step, and the most megabytes that tensors took."""
    call = first_steps(models.of(point.vocabulary), point)
    megabytes = allocated(call) / 1e6  # also warms up
    seconds = statistics.median(interleaved({"": call}, repeats)[""])
    return {
        "axis": point.axis,
        "value": point.value,
        "line": point.line,
        "milliseconds": round(1e3 * seconds / STEPS, 2),
        "megabytes": round(megabytes, 2),
    }


def draw(lines: Sequence[dict[str, Any]], axis: str, path: Path) -> None:
    """Time and memory against one axis, side by side."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "focore"  # the same numbers give the same file
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for panel, unit in zip(panels, UNITS, strict=True):
        for name in dict.fromkeys(line["line"] for line in lines):
            own = [line for line in lines if line["line"] == name]
            values = [line["value"] for line in own]
            panel.plot(values, [line[unit] for line in own], marker="o", label=name)
        panel.set(xscale="log", xlabel=axis, ylabel=UNITS[unit])
        panel.set_xticks(values, [f"{value:,}" for value in values])
        panel.minorticks_off()
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
    panels[0].legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def save(lines: Sequence[dict[str, Any]], folder: Path) -> list[str]:
    """Write the numbers and a plot an axis; returns the plots as Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "curves.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    pictures = []
    for axis in dict.fromkeys(line["axis"] for line in lines):
        name = f"{axis.replace(' ', '-')}.svg"
        draw([line for line in lines if line["axis"] == axis], axis, folder / name)
        pictures.append(f"![{axis}]({folder.name}/{name})")
    return pictures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small model, one repeat")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/performance"))
    parser.add_argument(
        "--page", type=Path, help="a page beside the folder, with markers for plots"
    )
    given = parser.parse_args()
    keep_freed_memory()  # as `focore.load` does; these models are not loaded
    models = Models(replace(BASE, width=32, layers=1, mlp_width=64) if given.quick else BASE)
    lines = []
    for point in points():
        lines.append(measured(models, point, 1 if given.quick else 3))
        print(*lines[-1].values(), sep="\t", flush=True)
    pictures = save(lines, given.output)
    if given.page:
        between(given.page, "curves", "\n".join(pictures))


if __name__ == "__main__":
    main()
