"""The parts of a page that are written by a program."""

from __future__ import annotations

from pathlib import Path


def replaced(text: str, marker: str, block: str) -> str:
    """A text with all between `<!-- marker:begin -->` and `<!-- marker:end -->` exchanged."""
    begin, end = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
    before, begun, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise SystemExit(f"the page has no place for {marker}: {begin} ... {end}")
    return f"{before}{begin}\n{block}\n{end}{after}"


def between(page: Path, marker: str, block: str) -> None:
    """Exchange that part of a file."""
    page.write_text(replaced(page.read_text(), marker, block))
