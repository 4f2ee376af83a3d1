"""`focore generate` and `focore compare`."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Annotated

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
    as_json: JsonOption = False,
) -> None:
    """Answer one prompt, drawn live as it denoises."""
    from ..generation import generate as answer
    from ..streaming import stream

    options = read_options(option, gen_length=gen_length, block_length=block_length, steps=steps)
    options |= {"method": method, "seed": seed, "chat": chat}
    loaded, prompt = load_model(model, dtype, device), read_prompt(prompt)
    if as_json:
        print(json.dumps(asdict(answer(loaded, prompt, **options)), ensure_ascii=False))
    elif sys.stdout.isatty():
        from rich.console import Console

        from ..display import Picture, draw

        frames = stream(loaded, prompt, watch=True, **options)
        draw(Console(), Picture(loaded), frames, method)
    else:
        completion = answer(loaded, prompt, **options)
        print(completion.text if loaded.text else " ".join(map(str, completion.tokens)))


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
    dtype: DtypeOption = "auto",
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Answer one prompt by several methods, side by side."""
    from rich.console import Console

    from ..decoding.methods import find
    from ..display import MEASURES, Picture, seen, side_by_side
    from ..errors import unknown
    from ..streaming import stream

    if colour not in MEASURES:
        raise unknown("colour", colour, MEASURES)
    common = read_options(None, gen_length=gen_length, block_length=block_length, steps=steps)
    extra = read_options(option)
    names = [find(name.strip()).name for name in methods.split(",") if name.strip()]
    chosen = {name: for_method(name, extra, names) for name in names}
    loaded, prompt = load_model(model, dtype, device), read_prompt(prompt)
    pictures, seconds = {}, {}
    for name in names:
        frames = stream(
            loaded, prompt, method=name, seed=seed, chat=chat, watch=True, **common, **chosen[name]
        )
        begin = time.perf_counter()
        pictures[name] = seen(frames, Picture(loaded, colour))
        seconds[name] = time.perf_counter() - begin
    if as_json:
        rows = [
            {
                "method": name,
                "text": picture.answer().plain,
                "steps": picture.steps,
                "passes": picture.passes,
                "seconds": seconds[name],
            }
            for name, picture in pictures.items()
        ]
        print(json.dumps(rows, ensure_ascii=False))
    else:
        Console().print(side_by_side(pictures, seconds))
