"""`focore train`."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import unknown
from .app import app
from .options import ExtraOption, JsonOption, SeedOption, read_options

if TYPE_CHECKING:
    from ..train import Progress, Recipe

FolderArgument = Annotated[Path, typer.Argument(help="where the run and its checkpoints live")]
StepsOption = Annotated[int | None, typer.Option("--steps", help="steps of the whole run")]


@app.command()
def train(
    folder: FolderArgument,
    steps: StepsOption = None,
    seed: SeedOption = 0,
    option: ExtraOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train the shipped model from nothing, or go on with the run in FOLDER."""
    from ..train import train as run

    recipe = _recipe(read_options(option, steps=steps, seed=seed))
    last: dict[str, Any] = {}

    def report(progress: Progress) -> None:
        last.update(step=progress.step, loss=progress.loss)
        if progress.accuracy is not None:
            last["accuracy"] = progress.accuracy
        if sys.stderr.isatty() and (progress.saved or progress.step % 10 == 0):
            print(_line(progress), file=sys.stderr)

    run(folder, recipe, report)
    print(json.dumps({"folder": str(folder), **last}) if as_json else folder)


def _recipe(given: dict[str, Any]) -> Recipe:
    from ..train import Recipe

    known = [item.name for item in fields(Recipe) if item.name != "stages"]
    for name in given:
        if name not in known:
            raise unknown("option of train", name, known)
    return Recipe(**given)


def _line(progress: Progress) -> str:
    pace = progress.seconds / (progress.step - progress.begun)
    left = pace * (progress.steps - progress.step)
    losses = ", ".join(f"{task} {loss:.3f}" for task, loss in sorted(progress.loss.items()))
    line = f"step {progress.step} of {progress.steps}, about {left / 60:.0f} min left; {losses}"
    if progress.accuracy is not None:
        right = ", ".join(f"{task} {share:.0%}" for task, share in progress.accuracy.items())
        line += f"; solved: {right}"
    return line
