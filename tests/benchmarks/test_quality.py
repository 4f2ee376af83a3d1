"""The statistics behind the tables, and a store that goes on where it stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import focore
from benchmarks.quality import Setting, Store, settings, wanted
from benchmarks.report import fill_page, write_report
from benchmarks.statistics import mcnemar, wilson
from focore.train import held_out


def test_wilson_against_known_values() -> None:
    assert wilson(50, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(10, 10)[1] == 1.0
    assert wilson(0, 0) == (0.0, 1.0)


def test_mcnemar_against_the_binomial() -> None:
    """Nine against one of ten that differ: 2 (1 + 10) / 1024."""
    ours, theirs = [True] * 9 + [False] * 11, [False] * 9 + [True] + [False] * 10
    assert mcnemar(ours, theirs) == pytest.approx(22 / 1024)
    assert mcnemar(ours, ours) == 1.0
    assert mcnemar([True, False], [False, True]) == 1.0


def test_settings_cover_the_papers_ablations() -> None:
    tables = {}
    for setting in settings():
        tables.setdefault(setting.table, []).append(setting.name)
    assert len(tables["m"]) == 15 and len(tables["w"]) == len(tables["K"]) == 5
    assert all(len(set(names)) == len(names) for names in tables.values())
    assert {"confidence", "cfg", "focore", "focore_a", "soar"} <= set(tables["main"])


def test_a_default_that_is_said_is_measured_once() -> None:
    plain, said = Setting("main", "focore"), Setting("w", "focore", {"guidance_scale": 0.3})
    assert plain.name == said.name == "focore"
    assert said.label == "focore guidance_scale=0.3"
    assert Setting("block", "cfg", {"block_length": 32}).name == "cfg"
    assert Setting("w", "focore", {"guidance_scale": 0.1}).name == "focore-guidance_scale=0.1"


def test_ablations_take_fewer_problems_of_two_tasks() -> None:
    problems = held_out("words", "test", 3)
    counts: dict[str, set[tuple[str, int]]] = {}
    for task, setting, taken in wanted({"words": problems, "arithmetic": problems}, 2):
        counts.setdefault(setting.table, set()).add((task, len(taken)))
    assert counts["main"] == {("words", 3), ("arithmetic", 3)}
    assert counts["w"] == counts["m"] == {("words", 2)}


def test_a_store_leaves_out_a_torn_line(tmp_path: Path) -> None:
    store, setting = Store(tmp_path), Setting("main", "cfg")
    store.append("words", setting, [{"right": True}])
    path = next(tmp_path.glob("*.jsonl"))
    path.write_text(path.read_text() + '{"right": fal')
    assert store.read("words", setting) == [{"right": True}]
    store.append("words", setting, [{"right": False}])
    assert store.read("words", setting) == [{"right": True}, {"right": False}]


def test_a_store_is_of_one_model(tmp_path: Path) -> None:
    tiny = focore.load("tiny")
    store = Store.of(tmp_path / "results", tiny)
    assert Store.of(tmp_path / "results", tiny) == store
    with pytest.raises(SystemExit, match="another model or length"):
        Store.of(tmp_path / "results", replace(tiny, folder=tmp_path))


def test_the_report_has_intervals_and_p_values(tmp_path: Path) -> None:
    row = {"steps": 32, "passes": 64, "seconds": 0.5}
    found = {
        ("words", "main", "confidence"): [{**row, "right": i < 5} for i in range(10)],
        ("words", "main", "focore"): [{**row, "right": i < 8} for i in range(10)],
    }
    write_report(tmp_path / "results.md", found, 32, batch=4)
    page = (tmp_path / "results.md").read_text()
    assert "| `focore` | 10 | 80.0% [49.0%, 94.3%] | 0.250 |  | 32.0 | 64.0 | 0.125 |" in page


def test_a_page_keeps_its_other_text(tmp_path: Path) -> None:
    row = {"steps": 32, "seconds": 0.5}
    found = {
        ("words", "main", "focore"): [{**row, "right": i < 8, "passes": 64} for i in range(10)],
        ("sums", "main", "focore"): [{**row, "right": True, "passes": 62} for _ in range(10)],
        ("words", "w", "focore"): [{**row, "right": False, "passes": 1}],
    }
    page = tmp_path / "README.md"
    page.write_text("a\n<!-- results:begin -->\nold\n<!-- results:end -->\nz\n")
    for _ in range(2):
        fill_page(page, found)
        lines = page.read_text().splitlines()
        assert (lines[0], lines[-1], len(lines)) == ("a", "z", 7)
        shares = "80.0% [49.0%, 94.3%] | 100.0% [72.2%, 100.0%]"
        assert lines[4] == f"| `focore` | {shares} | 63.0 |"
