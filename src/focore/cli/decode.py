"""`focore generate` and `focore compare`."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .app import app
from .options import (
    BlockOption,
    ChatOption,
    DeviceOption,
    DtypeOption,
    ExtraOption,
    JsonOption,
    LengthOption,
    MeasureOption,
    MethodOption,
    ModelOption,
    PromptArgument,
    SeedOption,
    StepsOption,
    for_method,
    load_model,
    read_options,
    read_prompt,
)
from .trace import TruthOption, check_output, choose_methods, write_traces

if TYPE_CHECKING:
    from ..trace import Recording


TraceOption = Annotated[
    str | None, typer.Option("--trace", help="keep every step: a page in .html, or arrays in .npz")
]
HtmlOption = Annotated[str | None, typer.Option("--html", help="write the comparison as a page")]


@app.command()
def generate(
    prompt: PromptArgument,
    model: ModelOption = "tiny",
    method: MethodOption = "focore",
    gen_length: LengthOption = 128,
    block_length: BlockOption = None,
    steps: StepsOption = None,
    seed: SeedOption = 0,
    chat: ChatOption = None,
    option: ExtraOption = None,
    dtype: DtypeOption = "auto",
    device: DeviceOption = "auto",
    trace: TraceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer one prompt, drawn live as it denoises."""
    from ..generation import generate as answer
    from ..streaming import stream
    from ..trace import recording_of

    options = read_options(None, gen_length=gen_length, block_length=block_length, steps=steps)
    options |= for_method(method, read_options(option), [method])
    options |= {"method": method, "seed": seed, "chat": chat}
    if trace:
        check_output(trace, 1)
    loaded, prompt = load_model(model, dtype, device), read_prompt(prompt)
    recording = recording_of(loaded, prompt, **options) if trace else None
    if sys.stdout.isatty() and not as_json:
        from rich.console import Console

        from ..display import Picture, draw

        frames = recording.frames() if recording else stream(loaded, prompt, watch=True, **options)
        draw(Console(), Picture(loaded), frames, method)
    else:
        completion = recording.completion() if recording else answer(loaded, prompt, **options)
        if as_json:
            print(json.dumps(asdict(completion), ensure_ascii=False))
        else:
            print(completion.text if loaded.text else " ".join(map(str, completion.tokens)))
    if recording and trace:
        write_traces(recording.traces(), trace, prompt)


@app.command()
def compare(
    prompt: PromptArgument,
    model: ModelOption = "tiny",
    methods: Annotated[
        str, typer.Option("--methods", help="names, separated by commas")
    ] = "confidence,cfg,focore,focore_a",
    gen_length: LengthOption = 128,
    block_length: BlockOption = None,
    steps: StepsOption = None,
    seed: SeedOption = 0,
    chat: ChatOption = None,
    option: ExtraOption = None,
    colour: MeasureOption = "instability",
    html: HtmlOption = None,
    truth: TruthOption = None,
    dtype: DtypeOption = "auto",
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Answer one prompt by several methods, side by side."""
    from ..display import MEASURES
    from ..errors import unknown
    from ..trace import recording_of

    if colour not in MEASURES:
        raise unknown("colour", colour, MEASURES)
    common = read_options(None, gen_length=gen_length, block_length=block_length, steps=steps)
    common |= {"seed": seed, "chat": chat}
    chosen = choose_methods(methods, read_options(option))
    if html:
        check_output(html, len(chosen))
    loaded, prompt = load_model(model, dtype, device), read_prompt(prompt)
    recordings = {
        name: recording_of(loaded, prompt, method=name, **{**common, **own})
        for name, own in chosen.items()
    }
    _show(recordings, colour, truth, as_json)
    if html:
        write_traces([each.traces()[0] for each in recordings.values()], html, prompt, truth)


def _show(recordings: dict[str, Recording], colour: str, truth: str | None, as_json: bool) -> None:
    """Run the methods one after the other, and print what each came to."""
    from rich.console import Console

    from ..display import Picture, seen, side_by_side
    from ..trace.page import is_right

    pictures, seconds, right, rows = {}, {}, {}, []
    for name, recording in recordings.items():
        begin = time.perf_counter()
        picture = seen(recording.frames(), Picture(recording.plan.model, colour))
        pictures[name], seconds[name] = picture, time.perf_counter() - begin
        text = picture.answer().plain
        row = {"method": name, "text": text, "steps": picture.steps, "passes": picture.passes}
        rows.append({**row, "seconds": seconds[name]})
        if truth is not None:
            right[name] = is_right(text, truth)
            rows[-1]["right"] = right[name]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False))
    else:
        Console().print(side_by_side(pictures, seconds, right))
