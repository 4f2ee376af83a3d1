"""`focore trace`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import OptionError
from .app import app
from .options import (
    BlockOption,
    ChatOption,
    DeviceOption,
    DtypeOption,
    ExtraOption,
    ModelOption,
    SeedOption,
    StepsOption,
    for_method,
    load_model,
    read_options,
    read_prompt,
)

if TYPE_CHECKING:
    from ..loading import Model
    from ..trace import Recording, Trace

GEN_LENGTH = 128

Text = Annotated[str | None, typer.Argument(help="the prompt; - reads it from standard input")]
OutputOption = Annotated[
    str, typer.Option("--output", "-o", help="the page; a name in .npz keeps the trace instead")
]
MethodsOption = Annotated[
    str, typer.Option("--method", help="one method, or several with commas, side by side")
]
LengthOption = Annotated[
    int | None, typer.Option("--gen-length", help=f"tokens to generate ({GEN_LENGTH})")
]
LoadOption = Annotated[
    list[str] | None, typer.Option("--load", help="a trace kept before; repeatable")
]
InfillOption = Annotated[
    bool, typer.Option("--infill", help="the prompt has blanks, [MASK] or [MASK:n]")
]
TruthOption = Annotated[
    str | None, typer.Option("--truth", help="the right answer; marks each as right or wrong")
]


@app.command()
def trace(
    prompt: Text = None,
    output: OutputOption = "trace.html",
    load: LoadOption = None,
    model: ModelOption = "tiny",
    method: MethodsOption = "focore",
    infill: InfillOption = False,
    truth: TruthOption = None,
    gen_length: LengthOption = None,
    block_length: BlockOption = None,
    steps: StepsOption = None,
    seed: SeedOption = 0,
    chat: ChatOption = None,
    option: ExtraOption = None,
    dtype: DtypeOption = "auto",
    device: DeviceOption = "auto",
) -> None:
    """Answer one prompt and draw its denoising, step by step, as one page."""
    from ..trace import load as load_trace

    if (prompt is None) == (not load):
        raise OptionError("give either a prompt or --load")
    named = choose_methods(method, read_options(option))
    check_output(output, len(load or []) if prompt is None else len(named))
    if prompt is None:
        write_traces([load_trace(path) for path in load or []], output, "", truth)
        print(output)
        return
    prompt = read_prompt(prompt)
    if not infill:
        gen_length = GEN_LENGTH if gen_length is None else gen_length
    common = read_options(None, gen_length=gen_length, block_length=block_length, steps=steps)
    loaded = load_model(model, dtype, device)
    made = []
    for name, own in named.items():
        chosen = {"method": name, "seed": seed, **common, **own}
        made.append(_trace(loaded, prompt, chosen if infill else {**chosen, "chat": chat}, infill))
    write_traces(made, output, prompt, truth)
    print(output)


def choose_methods(names: str, extra: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Methods separated by commas, each with the options that it knows."""
    from ..decoding.methods import find

    found = [find(name.strip()).name for name in names.split(",") if name.strip()]
    if not found:
        raise OptionError("no method named")
    return {name: for_method(name, extra, found) for name in found}


def check_output(output: str, runs: int) -> None:
    """Refuse a file that could not be written, before a long run rather than after it."""
    if not Path(output).absolute().parent.is_dir() or Path(output).is_dir():
        raise OptionError(f"{output}: cannot be written (no such folder, or a folder itself)")
    if Path(output).suffix == ".npz" and runs != 1:
        raise OptionError(f"{output}: a trace is of one run, and there are {runs}")


def write_traces(
    traces: Sequence[Trace], output: str, title: str, truth: str | None = None
) -> None:
    """Write traces where the user says: one as .npz, or a page of one or several."""
    from ..trace import page, save
    from ..trace.storage import write

    if Path(output).suffix == ".npz":
        save(traces[0], output)
    else:
        write(output, page(traces, title=title, truth=truth).encode())


def _trace(model: Model, prompt: str, options: dict[str, Any], infill: bool) -> Trace:
    from ..trace import record_infill, recording_of

    if infill:
        return record_infill(model, prompt, **options)
    recording = recording_of(model, prompt, **options)
    _run(recording, options["method"])
    return recording.traces()[0]


def _run(recording: Recording, name: str) -> None:
    """Take all steps, with progress on a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    budget = sum(recording.rows[0].budget)
    steps = track(
        recording, name, total=budget, console=console, disable=not sys.stderr.isatty(),
        transient=True,
    )  # fmt: skip
    for _ in steps:
        pass
