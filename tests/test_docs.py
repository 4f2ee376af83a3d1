"""Pages that are written from the code are those of the code."""

from __future__ import annotations

from pathlib import Path

from focore.reference import methods_page

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_page_of_methods_is_current() -> None:
    assert (DOCS / "methods.md").read_text() == methods_page(), "run `make docs`"
