"""The command itself, without its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from ..version import __version__

app = typer.Typer(
    help="Decode diffusion language models: FoCore and every rival method.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> None:
    if version:
        print(__version__)
    elif context.invoked_subcommand is None:
        print(context.get_help())
