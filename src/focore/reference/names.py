"""The page of public names: signatures, docstrings and fields, read from the code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

INTRODUCTION = """# Python

Written by `make docs` from the code; a test compares the two. What `import focore` gives is stable;
the rest of this page is what other pages use.
"""

GROUPS = (
    ("focore", "The library", None),
    ("focore.trace", "Traces", None),
    ("focore.evaluate.evaluation", "Evaluation", ("Evaluation",)),
    ("focore.evaluate.run", "", ("evaluate", "Result")),
    ("focore.train", "The shipped model's problems", ("Problem", "held_out", "correct")),
    ("focore.decoding.method", "Writing a method", ("Method", "Context")),
    ("focore.decoding.options", "", ("Piece", "option")),
    ("focore.decoding.commit", "", ("Commit", "Choice", "at_least")),
    ("focore.decoding.sampler", "", ("Proposal",)),
    ("focore.decoding.schedules", "", ("Schedule",)),
    ("focore.decoding.guidance", "", ("Guidance", "Guided", "Contrast")),
    ("focore.canvas", "", ("Canvas", "highest")),
    ("focore.model.denoiser", "Writing a backbone", ("Denoiser", "Prediction")),
    ("focore.model.head", "", ("Head", "Top")),
)
FIELD = re.compile(r"^    (\w+): (.+?)(?: = .+?)?(?:  # (.+))?$", re.MULTILINE)


def names_page() -> str:
    """docs/reference/python.md."""
    parts = [INTRODUCTION]
    for home, title, chosen in GROUPS:
        module = import_module(home)
        if title:
            parts.append(f"## {title}\n")
        names = [name for name in module.__all__ if name[0] != "_"] if chosen is None else chosen
        parts += [section(home, name, getattr(module, name)) for name in names]
    return "\n".join(parts).rstrip() + "\n"


def section(home: str, name: str, value: Any) -> str:
    """One name: how it is called, what it is, what it holds."""
    lines = [f"### {home}.{name}\n"]
    if not callable(value):
        return "\n".join([*lines, described(value)])
    lines.append(f"{prose(value)}\n")
    if inspect.isclass(value):
        lines += [*held(value), *done(value)]
    else:
        gives = inspect.signature(value).return_annotation
        lines.insert(1, f"```python\n{signature(name, arguments_of(value), gives)}\n```\n")
    return "\n".join(lines)


def described(value: Any) -> str:
    """A name that is no function and no class: the table of methods."""
    names = ", ".join(f"`{name}`" for name in value)
    return f"A `{type(value).__name__}` of {len(value)}, by name: {names}.\n"


def held(value: type) -> list[str]:
    """The fields of a dataclass, as a table."""
    if not is_dataclass(value):
        return []
    said = {found[1]: (found[2], found[3]) for found in FIELD.finditer(_source(value))}
    rows = [f"| `{item.name}` | {_cells(*said[item.name])} |" for item in fields(value)]
    return ["| field | type | |", "| --- | --- | --- |", *rows, ""]


def done(value: type) -> list[str]:
    """What a class does: its documented methods and properties."""
    lines = [
        f"- `{_called(name, member)}`: {prose(_function(member))}"
        for name, member in _members(value)
        if _function(member).__doc__
    ]
    return [*lines, ""] if lines else []


def signature(name: str, arguments: list[str], gives: str) -> str:
    """How a function is called, one argument a line if it is long."""
    line = f"{name}({', '.join(arguments)}) -> {gives}"
    if len(line) <= 88:
        return line
    rows = "".join(f"    {item},\n" for item in arguments)
    return f"{name}(\n{rows}) -> {gives}"


def arguments_of(function: Any) -> list[str]:
    """The arguments of a function as they are written."""
    found: list[str] = []
    for item in inspect.signature(function).parameters.values():
        if item.kind is item.KEYWORD_ONLY and "*" not in found:
            found.append("*")
        stars = "**" if item.kind is item.VAR_KEYWORD else ""
        found.append(f"{stars}{item.name}{_annotation(item)}{_default(item)}")
    return found


def prose(value: Any) -> str:
    """A docstring, its paragraphs unwrapped."""
    text = inspect.cleandoc(value.__doc__ or "")
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _annotation(item: inspect.Parameter) -> str:
    return "" if item.annotation is item.empty else f": {item.annotation}"


def _default(item: inspect.Parameter) -> str:
    """A default as it is written; a function is printed with its address, so by name."""
    if item.default is item.empty:
        return ""
    return f" = {getattr(item.default, '__name__', repr(item.default))}"


def _members(value: type) -> Iterator[tuple[str, Any]]:
    for name, member in vars(value).items():
        if not name.startswith("_") and inspect.isfunction(_function(member)):
            yield name, member


def _function(member: Any) -> Any:
    """The function behind a property, a class method or a wrapper."""
    for attribute in ("fget", "func", "__func__"):
        member = getattr(member, attribute, None) or member
    return inspect.unwrap(member)


def _called(name: str, member: Any) -> str:
    """A property by its name, a method with its arguments but the first."""
    if hasattr(member, "fget") or hasattr(member, "func"):
        return name
    function = _function(member)
    gives = inspect.signature(function).return_annotation
    return f"{name}({', '.join(arguments_of(function)[1:])}) -> {gives}"


def _source(value: type) -> str:
    """The source of a class and of those it extends, so that inherited fields are found."""
    return "\n".join(
        inspect.getsource(kind) for kind in reversed(value.__mro__) if kind is not object
    )


def _cells(kind: str, meaning: str | None) -> str:
    kind, meaning = kind.replace("|", "\\|"), (meaning or "").replace("|", "\\|")
    return f"`{kind}` | {meaning}"
