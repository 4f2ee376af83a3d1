"""The page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from focore.loading import Model
from focore.trace import page, record, record_infill
from tests.browsing import CONTRASTS, NAMELESS, Reader
from tests.trace.test_page import HOSTILE

STRANGE = "😀 e\u0301 שלום \u202eabc\u202c 👩‍👩‍👧 Ann"


@pytest.fixture(scope="module")
def pages(model: Model, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages of runs of every kind, by name."""
    options: dict[str, Any] = {"gen_length": 12, "block_length": 6, "chat": False}
    batch = record(model, ["Ann has four", "Bob"], **options)
    methods = ("confidence", "focore", "soar")
    pair = [record(model, "Ann has", method=name, **options) for name in methods[:2]]
    three = [record(model, "Ann has", method=name, **options) for name in methods]
    stopped = record(model, "Ann", stop_at_eos=True, fixed={2: [0]}, **options)
    made = {
        "one": page([batch[0]], title="Ann has four"),
        "batch": page([batch[1]]),
        "pair": page(pair, title="Ann has", truth="6"),
        "three": page(three),
        "infill": page([record_infill(model, "Ann has [MASK:4] apples [MASK].")]),
        "stopped": page([stopped]),
        "nothing": page([record(model, "Ann", gen_length=2, fixed={0: [5, 6]})]),
        "cached": page([record(model, "Ann", cache="dual", **options)]),
        "strange": page([record(model, STRANGE, **options)], title=STRANGE),
        "hostile": page([record(model, HOSTILE, **options)], title=HOSTILE),
    }
    folder = tmp_path_factory.mktemp("pages")
    for name, html in made.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


class TraceReader(Reader):
    """Someone with one of the pages before them."""

    def __init__(self, driver: Any, pages: dict[str, Path]):
        super().__init__(driver)
        self.pages = pages

    def open(self, name: str, fragment: str = "") -> None:
        self.visit(f"{self.pages[name].as_uri()}{fragment}")

    @property
    def step(self) -> int:
        return int(self.texts("#now")[0].split()[1])


@pytest.fixture
def reader(browser: Any, pages: dict[str, Path]) -> Iterator[TraceReader]:
    """A reader; whatever they did, the console has nothing to say."""
    made = TraceReader(browser, pages)
    yield made
    assert made.complaints() == []


def test_every_kind_of_run_renders(reader: TraceReader) -> None:
    for name in reader.pages:
        reader.open(name)
        assert reader.count(".answer .token") > 0, name
        assert reader.count(".mask") == reader.count(".legend .mask"), name
        assert reader.run("return performance.getEntriesByType('resource').length") == 0
        assert reader.complaints() == [], name


def test_stepping_by_keys_buttons_and_slider(reader: TraceReader) -> None:
    from selenium.webdriver.common.keys import Keys

    reader.open("one")
    assert reader.step == 12
    reader.press(Keys.HOME)
    assert reader.step == 0 and reader.count(".answer .mask") == 12
    reader.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, ".")
    assert reader.step == 3 and reader.count(".answer .mask") == 9
    assert reader.count(".answer .new") == 1
    assert reader.texts("#announce")[0].startswith("Step 3 of 12. 1 token written")
    reader.press(Keys.ARROW_LEFT)
    assert reader.step == 2
    reader.press(Keys.END)
    assert reader.step == 12
    reader.find("#back").click()
    assert reader.step == 11
    reader.find("#slider").send_keys(Keys.ARROW_LEFT)
    assert reader.step == 10
    assert reader.find("#slider").get_attribute("aria-valuetext") == "step 10 of 12"
    reader.open("one", "#4")
    assert reader.step == 4


def test_playing_runs_to_the_end_and_stops(reader: TraceReader) -> None:
    def speed(value: str) -> None:
        reader.run(f"""const speed = document.getElementById('speed');
            speed.value = '{value}'; speed.dispatchEvent(new Event('change'))""")

    reader.open("one", "#7")
    speed("0.5")
    reader.press(" ")
    assert reader.find("#play").get_attribute("aria-label") == "Pause"
    speed("4")
    reader.wait(lambda: reader.find("#play").get_attribute("aria-label") == "Play")
    assert reader.step == 12
    speed("0.5")
    reader.find("#play").click()
    reader.find("#play").click()
    assert reader.step < 12 and reader.find("#play").get_attribute("aria-label") == "Play"


def test_the_colours_switch(reader: TraceReader) -> None:
    reader.open("one")
    bands = "return Array.from(document.querySelectorAll('.tokens .token'), e => e.className)"
    seen = {}
    for measure in ("peak", "instability", "total"):
        reader.run(f"document.querySelector('input[value={measure}]').click()")
        seen[measure] = reader.run(bands)
    assert seen["peak"] != seen["total"]
    assert all("band" in name for names in seen.values() for name in names)
    assert sum("core" in name for name in seen["peak"]) == 8


def test_a_token_tells_its_history(reader: TraceReader) -> None:
    from selenium.webdriver.common.keys import Keys

    reader.open("one")
    reader.run("document.querySelector('.answer span').focus()")
    reader.press(Keys.ARROW_RIGHT)
    assert reader.step == 12  # the arrows belong to the tokens now
    assert "position 2" in reader.texts(".inspector h3")[0]
    assert reader.count(".inspector svg") == 2 and reader.count(".candidates li") == 5
    said = reader.texts("#announce")[0]
    assert said.startswith("focore: “") and "position 2, written step" in said and "S now" in said
    selected = reader.texts(".answer [aria-selected=true]")
    assert len(selected) == 1
    reader.press(",")
    assert reader.step == 11


def test_two_methods_side_by_side(reader: TraceReader) -> None:
    reader.open("pair")
    assert reader.texts(".panel h2") == ["confidence", "focore"]
    assert reader.texts(".verdict") == ["✗ wrong", "✗ wrong"]
    script = """const [a, b] = runs.map(run => run.canvases.at(-1));
        return a.filter((token, p) => token !== b[p]).length"""
    different = reader.run(script)
    assert reader.count(".panel:last-child .differs") == different
    reader.find("#differences").click()
    assert reader.count(".panel .differs") == 0
    reader.open("three")
    assert "not measured" in reader.texts(".panel:last-child .convergence")[0]


def test_text_is_text(reader: TraceReader) -> None:
    reader.open("hostile")
    assert reader.driver.title == "FoCore trace" and reader.count("img") == 0
    assert "<script>" in "".join(reader.texts(".prompt .token"))
    assert reader.texts("#subtitle")[0] == HOSTILE
    reader.open("strange")
    shown = "".join(reader.texts(".prompt .token"))
    assert "😀" in shown and "ש" in shown and "\u202e" not in shown and "U+202E" in shown
    assert "\u202e" not in reader.texts("#subtitle")[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_enough_and_a_phone_is_wide_enough(reader: TraceReader, scheme: str) -> None:
    with reader.screen(scheme):
        reader.open("pair", "#6")
        assert reader.run("return document.documentElement.scrollWidth") <= 400
        for pair, contrast in reader.run(CONTRASTS).items():
            assert contrast >= 4.5, f"{scheme}: {pair} {contrast:.2f}"


def test_everything_has_a_name(reader: TraceReader) -> None:
    reader.open("pair")
    assert reader.run(NAMELESS) == []
    assert reader.count("[role=listbox] > :not([role=option])") == 0
    assert reader.count("[role=option][tabindex='0']") == reader.count("[role=listbox]")
