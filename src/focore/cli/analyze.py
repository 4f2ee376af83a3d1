"""`focore analyze`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import OptionError
from .app import app
from .options import (
    DeviceOption,
    DtypeOption,
    JsonOption,
    LengthOption,
    ModelOption,
    SeedOption,
    load_model,
)

PromptsOption = Annotated[
    Path | None, typer.Option("--prompts", help="a text file, one prompt a line")
]
CountOption = Annotated[int, typer.Option("--problems", help="of each of the shipped tasks")]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="the folder to write into")]


@app.command()
def analyze(
    out: OutOption,
    prompts: PromptsOption = None,
    problems: CountOption = 100,
    model: ModelOption = "tiny",
    gen_length: LengthOption = 32,
    seed: SeedOption = 0,
    dtype: DtypeOption = "auto",
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Measure the paper's three findings: heatmap, sensitivity, decoding order; word clouds."""
    from ..analysis.analyze import analyze as run

    asked = _from_file(prompts) if prompts else _shipped(problems)
    loaded = load_model(model, dtype, device)
    report = _progress if sys.stderr.isatty() else None
    summary = run(loaded, asked, out, gen_length=gen_length, seed=seed, report=report)
    if as_json:
        print(json.dumps(summary))
        return
    drop, order = summary["drop_at_half"], summary["decoded_at_half"]
    print(f"{summary['answers']} answers; figures and data are in {out}")
    for name in ("HD", "LD"):
        print(
            f"{name}: mean drop with half of the prompt masked "
            f"{drop[name]['mean']:.3f} +- {drop[name]['half_interval']:.3f}; "
            f"decoded after half of the steps {order[name]:.0%}"
        )
    for task, found in summary["agreement"].items():
        print(f"{task}: agreement of the two detectors beyond chance (kappa) {found['kappa']:.2f}")


def _from_file(path: Path) -> dict[str, list[str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: cannot be read ({error})") from None
    return {path.stem: [line for line in lines if line.strip()]}


def _shipped(count: int) -> dict[str, list[str]]:
    from ..train import held_out

    if count < 1:
        raise OptionError(f"problems={count} is not allowed; it must be at least 1")
    tasks = ("words", "countdown")
    return {task: [p.prompt for p in held_out(task, "dev", count)] for task in tasks}


def _progress(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\r{done} of {total} prompts", end=end, file=sys.stderr, flush=True)
