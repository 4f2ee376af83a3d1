"""The command line: parse, call, print."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import CheckpointError, DecodingError, OptionError

if TYPE_CHECKING:
    from .loading import Model

app = typer.Typer(
    help="Decode diffusion language models: FoCore and every rival method.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

PromptArgument = Annotated[str, typer.Argument(help="the prompt; - reads it from standard input")]
ModelOption = Annotated[
    str, typer.Option("--model", "-m", help="tiny (shipped), a checkpoint folder, or a Hub id")
]
MethodOption = Annotated[str, typer.Option("--method", help="see `focore methods`")]
LengthOption = Annotated[int, typer.Option("--gen-length", help="tokens to generate")]
BlockOption = Annotated[int | None, typer.Option("--block-length", help="tokens of a block")]
StepsOption = Annotated[int | None, typer.Option("--steps", help="steps of the whole generation")]
SeedOption = Annotated[int, typer.Option("--seed", help="where randomness begins")]
ChatOption = Annotated[
    bool | None, typer.Option("--chat/--raw", help="chat template, or the prompt as it is")
]
ExtraOption = Annotated[
    list[str] | None,
    typer.Option("--option", "-O", help="any other option as name=value; repeatable"),
]
DtypeOption = Annotated[str, typer.Option("--dtype", help="auto, float32, bfloat16 or float16")]
DeviceOption = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or mps")]
JsonOption = Annotated[bool, typer.Option("--json", help="print the result as JSON")]
MeasureOption = Annotated[
    str, typer.Option("--colour", help="instability (largest S) or divergence (sum of D)")
]


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
    from .generation import generate as answer
    from .streaming import stream

    options = _options(option, gen_length=gen_length, block_length=block_length, steps=steps)
    options |= {"method": method, "seed": seed, "chat": chat}
    loaded, prompt = _load(model, dtype, device), _prompt(prompt)
    if as_json:
        print(json.dumps(asdict(answer(loaded, prompt, **options)), ensure_ascii=False))
    elif sys.stdout.isatty():
        from rich.console import Console

        from .display import Picture, draw

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

    from .decoding.methods import find
    from .display import MEASURES, Picture, seen, side_by_side
    from .errors import unknown
    from .streaming import stream

    if colour not in MEASURES:
        raise unknown("colour", colour, MEASURES)
    common = _options(None, gen_length=gen_length, block_length=block_length, steps=steps)
    extra = _options(option)
    names = [find(name.strip()).name for name in methods.split(",") if name.strip()]
    chosen = {name: _for_method(name, extra, names) for name in names}
    loaded, prompt = _load(model, dtype, device), _prompt(prompt)
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


@app.command()
def methods(as_json: JsonOption = False) -> None:
    """List the methods with their options and defaults."""
    from .decoding.methods import TABLE

    if as_json:
        rows = [
            {
                "name": method.name,
                "rule": method.rule,
                "paper": method.paper,
                "passes": method.passes,
                "options": {name: item.default for name, item in method.options.items()},
            }
            for method in TABLE
        ]
        print(json.dumps(rows))
        return
    for method in TABLE:
        print(f"{method.name}: {method.rule} ({method.passes} passes a step)")
        for name, item in method.options.items():
            print(f"    {name}={item.default}  {item.about}; {item.limit}")


@app.command()
def models(as_json: JsonOption = False) -> None:
    """List the models at hand: the shipped one, and what the Hub's cache holds."""
    from .available import available

    rows = available()
    if as_json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(f"{row['name']}  {row['family']}  {row['where']}")
    print("also: any LLaDA or Dream checkpoint, or masked LM of transformers, by folder or Hub id")


def _load(source: str, dtype: str, device: str) -> Model:
    from .loading import load

    return load(source, dtype=dtype, device=device)


def _prompt(prompt: str) -> str:
    return sys.stdin.read() if prompt == "-" else prompt


def _options(extra: list[str] | None, **named: Any) -> dict[str, Any]:
    """The options said by name, and those said as name=value."""
    found = {name: value for name, value in named.items() if value is not None}
    for item in extra or []:
        name, equals, value = item.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise OptionError(f"--option {item!r} is not of the form name=value")
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = None if value.lower() == "none" else value
        if name == "fixed" and isinstance(parsed, dict):
            parsed = {int(k) if k.isdigit() else k: v for k, v in parsed.items()}
        found[name] = parsed
    return found


def _for_method(name: str, extra: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The options that a method knows; one that no method knows is an error."""
    from .decoding.methods import find
    from .decoding.options import Settings, options_of, refuse_unknown

    common = options_of(Settings)
    known = {**common}
    for other in names:
        known |= find(other).options
    refuse_unknown(extra, known, "these methods")
    return {k: v for k, v in extra.items() if k in common or k in find(name).options}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a user's mistake is one line on standard error and exit code 2."""
    try:
        code = app(arguments, standalone_mode=False)
    except (OptionError, CheckpointError) as error:
        _fail(str(error), 2)
    except DecodingError as error:
        _fail(str(error), 1)
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        _fail(error.format_message(), 2)
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> None:
    line = " ".join(message.split())
    print(f"focore: {line}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
