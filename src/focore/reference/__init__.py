"""Pages of the documentation that are written from the code, so that they cannot drift."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .commands import commands_page
from .methods import methods_page
from .names import names_page

PAGES: dict[str, Callable[[], str]] = {
    "methods.md": methods_page,
    "reference/commands.md": commands_page,
    "reference/python.md": names_page,
}

__all__ = ["PAGES", "write_pages"]


def write_pages(folder: str | Path) -> None:
    """Write every page into the folder of the documentation."""
    for name, page in PAGES.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(), encoding="utf-8")
