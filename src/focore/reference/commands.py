"""The page of commands: what `focore COMMAND --help` knows, as tables.

The tables are read from the commands rather than printed by them: the layout of `--help` is that of
the library that prints it and changes with its version.
"""

from __future__ import annotations

from typing import Any

INTRODUCTION = """# Commands

Written by `make docs` from the commands; a test compares the two. `focore COMMAND --help` prints
the same. Exit codes: 0 for success, 2 for a mistake in what was asked, with one line on standard
error, 130 after an interruption, 1 for anything else.
"""


def commands_page() -> str:
    """docs/reference/commands.md."""
    from typer.main import get_command

    from .. import cli  # noqa: F401  (its modules add their commands to the app)
    from ..cli.app import app

    commands: dict[str, Any] = vars(get_command(app))["commands"]
    parts = [INTRODUCTION, *(section(name, commands[name]) for name in sorted(commands))]
    return "\n".join(parts).rstrip() + "\n"


def section(name: str, command: Any) -> str:
    """One command: what it does, its arguments and its options."""
    arguments = [item for item in command.params if item.param_type_name == "argument"]
    options = [item for item in command.params if item.param_type_name == "option"]
    words = [item.name.upper() if item.required else f"[{item.name.upper()}]" for item in arguments]
    usage = " ".join(["focore", name, *words, "[OPTIONS]"])
    rows = [f"| `{item.name.upper()}` | | {item.help} |" for item in arguments]
    rows += [f"| {spelling(item)} | {default(item)} | {item.help} |" for item in options]
    return "\n".join(
        [
            f"## focore {name}\n",
            f"{command.help}\n",
            f"    {usage}\n",
            "| option | default | meaning |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def spelling(option: Any) -> str:
    """How an option is written: all its names, and what switches it off."""
    names = ", ".join(f"`{name}`" for name in option.opts)
    against = ", ".join(f"`{name}`" for name in option.secondary_opts)
    return f"{names} or {against}" if against else names


def default(option: Any) -> str:
    """The default; nothing for a switch that is off or an option that is not given."""
    return "" if option.default is None or option.default is False else f"`{option.default}`"
