"""What the speed tables are made of: figures, replayed passes, counted memory, settings."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import focore
from benchmarks.beyond import compared, report, settings, tasks
from benchmarks.curves import AXES, Models, Point, measured, points, save
from benchmarks.figures import Figure, interleaved, write
from benchmarks.markers import between
from benchmarks.memory import allocated, grown, peak
from benchmarks.passes import recorded
from benchmarks.shapes import SHAPES, decoders, model_of
from benchmarks.speed import operations
from focore.train import held_out


def test_a_figure_says_whether_it_reaches_its_target() -> None:
    assert Figure("a", [2.0, 3.0, 1.0], at_least=2.0).reached is True
    assert Figure("a", [1.2], at_most=1.1).reached is False
    assert Figure("a", [1.2]).reached is None
    line = Figure("a / b", [1.0, 2.0, 4.0], at_least=2.2).line()
    assert line == "| a / b | 2.00 | 1.00-4.00 | at least 2.2 | **not reached** |"


def test_calls_are_taken_in_turns() -> None:
    order: list[str] = []
    found = interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3)
    assert order == ["a", "b"] * 3 and [len(times) for times in found.values()] == [3, 3]


def test_tables_go_between_their_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- speed:begin -->\nold\n<!-- speed:end -->\nafter\n")
    write({"title": [Figure("a", [1.0], at_most=2)]}, 50.0, tmp_path / "n" / "speed.json", page)
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "### title" in text and "reached" in text and "50 GFLOP/s" in text
    assert '"reached": true' in (tmp_path / "n" / "speed.json").read_text()
    between(page, "speed", "new")
    assert "<!-- speed:begin -->\nnew\n<!-- speed:end -->" in page.read_text()


def test_the_page_has_the_markers_that_the_benchmarks_fill() -> None:
    page = (Path(__file__).parents[2] / "docs" / "performance.md").read_text()
    for marker in ("speed", "beyond", "curves"):
        assert page.count(f"<!-- {marker}:begin -->") == page.count(f"<!-- {marker}:end -->") == 1


@pytest.mark.parametrize("method", ["confidence", "focore"])
def test_the_naive_code_gives_the_same_tokens(method: str) -> None:
    made = decoders("small", method, 8)
    assert made["ours"]() == made["naive"]()


def test_bare_passes_are_those_of_the_run() -> None:
    """Two passes a step; the head on the masks in both, on what is written in the first."""
    model = model_of("small")
    found = recorded(
        model, lambda: focore.generate(model, [1] * 9, gen_length=4, steps=2, tie_noise=0.0)
    )
    heads = [[len(row) for row, _ in asked] for asked in found.asked]
    assert heads == [[9, 4, 2], [4], [11, 2], [2]]
    found.replay()


def test_memory_is_counted() -> None:
    def forty_megabytes() -> None:
        a = torch.zeros(5_000_000)
        b = a + 1
        del a
        c = b + 1
        del b, c

    assert allocated(forty_megabytes) == pytest.approx(40e6, rel=0.01)
    assert grown(lambda: torch.zeros(50_000_000) + 1) > 300e6
    assert peak("small", "focore", "ours") < 100e6


def test_operations_of_a_pass() -> None:
    """By hand: 2 layers of 4 x 64^2 + 3 x 64 x 192 and attention over 10, the head 64 x 1000."""
    layer = 4 * 64**2 + 3 * 64 * 192 + 2 * 10 * 64
    assert operations("small", 3, 10) == 2 * 30 * (2 * layer + 64 * 1000)


def test_every_axis_is_measured() -> None:
    axes = {point.axis for point in points()}
    assert axes == {*AXES, "core_tokens", "divergence_top_k"}
    lengths = [p.length for p in points() if p.axis == "generation length"]
    assert min(lengths) == 64 and max(lengths) == 1024


def test_a_point_is_measured_and_drawn(tmp_path: Path) -> None:
    models = Models(SHAPES["small"])
    made = [
        measured(models, Point("batch", n, "focore", "focore", rows=n, vocabulary=500), 1)
        for n in (1, 3)
    ]
    assert made[1]["megabytes"] > made[0]["megabytes"] > 0
    assert save(made, tmp_path / "plots") == ["![batch](plots/batch.svg)"]
    assert (tmp_path / "plots" / "batch.svg").read_text().startswith("<?xml")
    assert (tmp_path / "plots" / "curves.csv").read_text().count("batch,") == 2


def test_settings_beyond_the_paper_have_names_of_their_own() -> None:
    names = [setting.name for _, setting in settings()]
    assert len(set(names)) == len(names) == 15
    assert "focore_a-contrast=auto-cache=dual" in names


def test_problems_beyond_the_paper_are_a_third_of_each_task_and_held_out() -> None:
    found = tasks(10)
    assert {task: len(problems) for task, problems in found.items()} == {
        "countdown": 4,
        "words": 4,
        "arithmetic": 4,
    }
    assert found["words"] == held_out("words", "test", 4)


def test_targets_beyond_the_paper(tmp_path: Path) -> None:
    def rows(right: int, passes: int) -> list[dict[str, object]]:
        return [{"right": i < right, "passes": passes} for i in range(100)]

    lines = compared(
        {
            "confidence": rows(80, 32),
            "focore": rows(80, 64),
            "focore, auto": rows(79, 40),
            "focore, dual cache": rows(78, 64),
            "focore_a": rows(60, 50),
            "focore_a, auto, dual cache": rows(80, 31),
        }
    )
    reached = [line.target and line.target[1] for line in lines]
    assert reached == [None, None, True, False, None, True]
    page = tmp_path / "page.md"
    page.write_text("<!-- beyond:begin --><!-- beyond:end -->")
    report(lines, page, tmp_path / "performance" / "beyond.json")
    assert "| `focore, auto` | 79.0% [70.0%, 85.8%] | -1.0 |" in page.read_text()
