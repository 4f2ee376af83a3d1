"""The numbers of docs/findings.md come from a summary, and only they are exchanged."""

from __future__ import annotations

import pytest

from benchmarks.findings import PAGE, measured, verdict
from benchmarks.markers import replaced

GAP = {"value": 0.2, "half": 0.1, "count": 7}
SUMMARY = {
    "answers": 8, "hd_tokens": 30, "ld_tokens": 40,
    "collapsed_at_half": {"HD": 0.25, "LD": 0.125},
    "drop_at_half": {k: {"mean": 0.5, "half_interval": 0.01} for k in ("HD", "LD")},
    "decoded_at_half": {"HD": 0.75, "LD": 0.5},
    "differences": {"collapsed": GAP, "drop": GAP, "step": GAP},
    "agreement": {"words": {
        "both": 1, "only_automatic": 2, "only_linguistic": 3, "neither": 4, "kappa": 0.123,
    }},
}  # fmt: skip


def test_a_verdict_follows_the_interval() -> None:
    assert verdict(GAP, 1) == "holds" and verdict(GAP, -1) == "is reversed"
    assert verdict({"value": 0.2, "half": 0.3}, 1) == "cannot be told from chance"


def test_the_numbers_are_those_of_the_summary() -> None:
    block = measured(SUMMARY, 2.5)
    assert "8 answers with 30 HD and 40 LD tokens" in block and "| 25.0% | 12.5% |" in block
    assert block.count("+0.200 ± 0.100 | 7 | holds") == 2
    assert block.count("+0.200 ± 0.100 | 7 | is reversed") == 1
    assert "| words | 1 | 2 | 3 | 4 | 0.12 |" in block


def test_only_the_generated_part_changes() -> None:
    page = PAGE.read_text()
    begin, end = "<!-- measured:begin -->", "<!-- measured:end -->"
    changed = replaced(page, "measured", "new")
    assert f"{begin}\nnew\n{end}" in changed
    assert changed.split(begin)[0] == page.split(begin)[0]
    assert changed.split(end)[1] == page.split(end)[1]
    with pytest.raises(SystemExit, match="no place"):
        replaced("", "measured", "new")
