"""Writes docs/dependencies.md: what FoCore needs, for what, and under which licence.

Bounds come from pyproject.toml, licences from the metadata of the installed packages.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INTRODUCTION = """# Dependencies

Written by `make licences` from `pyproject.toml` and the metadata of the installed
packages. FoCore itself is under the Apache License 2.0.

| package | needed for | bound | licence |
| --- | --- | --- | --- |
"""
NAME = re.compile(r"^([A-Za-z0-9._-]+)")
FAMILIES = ("Apache", "BSD", "MIT", "Mozilla", "MPL", "PSF", "Python", "ISC", "LGPL", "GPL", "Zlib")
WORDS = {"Mozilla": "MPL", "Python": "PSF"}


def declared() -> Iterator[tuple[str, str, str]]:
    """Name, what it is for, and bound of every direct dependency."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = {"everything": project["project"]["dependencies"]}
    groups |= {f"`[{k}]`": v for k, v in project["project"]["optional-dependencies"].items()}
    groups |= {f"work on it: {k}": v for k, v in project["dependency-groups"].items()}
    for use, items in groups.items():
        for item in items:
            if isinstance(item, str) and not item.startswith("focore["):
                name = named(item)
                yield name, use, item[len(name) :].split(";")[0].strip()


def named(requirement: str) -> str:
    """The name in a requirement."""
    found = NAME.match(requirement)
    assert found, requirement
    return found[1]


def licence(name: str) -> str:
    """The licence that a package states, in a few words."""
    try:
        about = distribution(name).metadata
    except PackageNotFoundError:
        return "not installed"
    said = about.get("License-Expression") or about.get("License") or ""
    if said and "\n" not in said and len(said) < 200:
        return said.strip()
    kinds = [c.rsplit(" :: ", 1)[1] for c in about.get_all("Classifier", []) if "License ::" in c]
    return ", ".join(kinds) or (said.strip().splitlines() or ["not stated"])[0][:60]


def needed_in_turn(names: set[str]) -> set[str]:
    """What the packages need in turn, as far as it is installed."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop().lower().replace("_", "-").replace(".", "-")
        if name in found or licence(name) == "not installed":
            continue
        found.add(name)
        waiting += [named(item) for item in requires(name) or [] if "extra ==" not in item]
    return found - {name.lower().replace("_", "-") for name in names}


def family(said: str) -> str:
    """The family of a licence, to count by."""
    kind = next((word for word in FAMILIES if word.lower() in said.lower()), "other")
    return WORDS.get(kind, kind)


def page() -> str:
    """docs/dependencies.md."""
    direct = list(declared())
    rows = [f"| {name} | {use} | {bound} | {licence(name)} |" for name, use, bound in direct]
    others = {name: licence(name) for name in needed_in_turn({name for name, _, _ in direct})}
    counts = Counter(family(said) for said in others.values())
    said = ", ".join(f"{kind} {count}" for kind, count in counts.most_common())
    lines = [f"- {name}: {others[name]}" for name in sorted(others)]
    return (
        f"{INTRODUCTION}{chr(10).join(rows)}\n\n## What those need in turn\n\n"
        f"{len(others)} packages, by kind of licence: {said}.\n\n{chr(10).join(lines)}\n"
    )


if __name__ == "__main__":
    (ROOT / "docs" / "dependencies.md").write_text(page(), encoding="utf-8")
