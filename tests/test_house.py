"""The house in order: sizes, one direction of imports, and public names that say what they are."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from focore.reference.names import GROUPS

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "focore"
FOLDERS = ("src", "tests", "benchmarks", "examples", "scripts")
KINDS = (".py", ".js", ".css", ".html")
LONGEST_FILE, LONGEST_FUNCTION = 350, 50

# A file imports only what stands before it; files of one line know each other.
LAYERS = (
    ("version", "errors", "writing", "expressions", "rows", "joining"),
    ("canvas", "text"),
    ("model",),
    ("loading", "available"),
    ("decoding", "prompts"),
    ("generation",),
    ("streaming",),
    ("core",),
    ("display", "trace"),
    ("train",),
    ("tasks",),
    ("evaluate", "analysis", "serve"),
    ("cli",),
    ("reference",),
)
PLACE = {name: place for place, names in enumerate(LAYERS) for name in names}


def files(*kinds: str) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (p for p in sorted((ROOT / folder).rglob("*")) if p.suffix in kinds)


def test_no_file_is_long() -> None:
    lengths = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in files(*KINDS)}
    long = {str(p.relative_to(ROOT)): n for p, n in lengths.items() if n > LONGEST_FILE}
    assert not long


def test_no_function_is_long() -> None:
    long = {}
    for path in files(".py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    long[f"{path.relative_to(ROOT)}: {node.name}"] = length
    assert not long


def imports(path: Path) -> Iterator[str]:
    """The modules of the package that a file imports when it runs, as dotted names."""
    package = ["focore", *path.relative_to(SOURCE).parts[:-1]]
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []  # names for the type checker only
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = package[: len(package) - node.level + 1]
            home += node.module.split(".") if node.module else []
            for name in node.names:
                both = [*home, name.name]
                yield ".".join(both if is_module(both) else home)


def is_module(parts: list[str]) -> bool:
    path = ROOT.joinpath("src", *parts)
    return path.with_suffix(".py").exists() or path.is_dir()


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = ["focore", *path.relative_to(SOURCE).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def test_imports_go_one_way() -> None:
    """Within a package, too: no two files import each other, even by way of others."""
    graph = {name: set(imports(path)) - {name, "focore"} for name, path in modules().items()}
    TopologicalSorter(graph).prepare()


def test_a_file_imports_only_what_is_to_its_left() -> None:
    wrong = []
    for name, path in modules().items():
        for other in imports(path):
            here, there = (part.split(".")[1] if "." in part else "" for part in (name, other))
            if here and there and PLACE[there] > PLACE[here]:
                wrong.append(f"{name} imports {other}")
    assert not wrong


def public() -> Iterator[tuple[str, Any]]:
    """The names that the reference documents."""
    for home, _, chosen in GROUPS:
        module = import_module(home)
        for name in module.__all__ if chosen is None else chosen:
            yield f"{home}.{name}", getattr(module, name)


@pytest.mark.parametrize(("name", "value"), list(public()), ids=[name for name, _ in public()])
def test_public_names_have_docstrings_and_types(name: str, value: Any) -> None:
    if not callable(value):
        return
    assert value.__doc__ and not value.__doc__.startswith(f"{value.__name__}(")
    inside = vars(value) if inspect.isclass(value) else {value.__name__: value}
    for function in (inside[key] for key in inside if key[0] != "_"):
        if not inspect.isfunction(function):
            continue
        found = inspect.signature(function)
        assert found.return_annotation is not found.empty, function
        for item in found.parameters.values():
            assert item.name == "self" or item.annotation is not item.empty, (function, item)


@pytest.mark.parametrize("home", ["focore", "focore.trace", "focore.train", "focore.reference"])
def test_what_a_package_offers_is_there_once(home: str) -> None:
    module = import_module(home)
    assert len(module.__all__) == len(set(module.__all__))
    assert all(hasattr(module, name) for name in module.__all__)


def test_every_file_says_what_it_is() -> None:
    for path in files(".py"):
        text = path.read_text()
        if text.strip() and path.name != "__main__.py":
            assert ast.get_docstring(ast.parse(text)), path
