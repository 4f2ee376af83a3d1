"""Options that several commands take, and how they are read."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import OptionError

if TYPE_CHECKING:
    from ..loading import Model

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
DtypeOption = Annotated[
    str, typer.Option("--dtype", help="auto, float32, bfloat16, float16 or float64")
]
DeviceOption = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or mps")]
JsonOption = Annotated[bool, typer.Option("--json", help="print the result as JSON")]
MeasureOption = Annotated[
    str, typer.Option("--colour", help="instability (largest S) or divergence (sum of D)")
]


def load_model(source: str, dtype: str, device: str) -> Model:
    """The model that a command names."""
    from ..loading import load

    return load(source, dtype=dtype, device=device)


def read_prompt(prompt: str) -> str:
    """The prompt, or standard input for a dash."""
    try:
        return sys.stdin.read() if prompt == "-" else prompt
    except UnicodeDecodeError as error:
        raise OptionError(f"standard input is not text ({error})") from None


def read_options(extra: list[str] | None, **named: Any) -> dict[str, Any]:
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
            from ..prompts import offsets

            parsed = offsets(parsed)
        found[name] = parsed
    return found


def for_method(name: str, extra: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The options that a method knows; one that no method knows is an error."""
    from ..decoding.methods import find
    from ..decoding.options import Settings, options_of, refuse_unknown

    common = options_of(Settings)
    known = {**common}
    for other in names:
        known |= find(other).options
    refuse_unknown(extra, known, "these methods")
    return {k: v for k, v in extra.items() if k in common or k in find(name).options}
