"""The shipped model at work: one problem by two methods, then a small table over fixed problems."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.table import Table

import focore
from focore.display import Picture, draw, legend
from focore.train import correct, held_out

METHODS = ("confidence", "cfg", "klass", "threshold", "focore", "focore_a")
PROBLEMS = 16


def show(console: Console, model: focore.Model) -> None:
    """One problem, drawn while it denoises."""
    problem = held_out("words", "dev", 3)[2]
    console.print(f"[bold]{problem.prompt}[/bold]\n")
    for method in ("confidence", "focore"):
        frames = focore.stream(model, problem.prompt, method=method, gen_length=32, watch=True)
        draw(console, Picture(model), frames, method)
        console.print()
    console.print(legend("instability"), "\n")


def compare(console: Console, model: focore.Model) -> None:
    """The main methods on the same problems."""
    problems = held_out("words", "dev", PROBLEMS) + held_out("countdown", "dev", PROBLEMS)
    table = Table(title=f"{len(problems)} held-out problems, 32 tokens, steps = length")
    for heading in ("method", "solved", "steps", "passes", "seconds"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for method in METHODS:
        begin = time.perf_counter()
        prompts = [problem.prompt for problem in problems]
        made = focore.generate(model, prompts, method=method, gen_length=32, batch_size=32)
        seconds = time.perf_counter() - begin
        solved = sum(correct(p, c.text) for p, c in zip(problems, made, strict=True))
        steps = sum(c.steps for c in made) / len(made)
        passes = sum(c.passes for c in made) / len(made)
        table.add_row(
            method,
            f"{solved} of {len(problems)}",
            f"{steps:.1f}",
            f"{passes:.1f}",
            f"{seconds:.1f}",
        )
    console.print(table)


def main(source: str = "tiny") -> None:
    console, model = Console(), focore.load(source)
    show(console, model)
    compare(console, model)


if __name__ == "__main__":
    main(*sys.argv[1:])
