"""The page in a real browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from focore.loading import Model
from focore.trace import page, record, record_infill
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


class Reader:
    """Someone with the page before them."""

    def __init__(self, driver: Any, pages: dict[str, Path]):
        self.driver, self.pages = driver, pages

    def open(self, name: str, fragment: str = "") -> None:
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(f"{self.pages[name].as_uri()}{fragment}")

    def run(self, script: str) -> Any:
        return self.driver.execute_script(script)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        script = f"return Array.from(document.querySelectorAll({selector!r}), e => e.textContent)"
        found: list[str] = self.run(script)
        return found

    def count(self, selector: str) -> int:
        return len(self.texts(selector))

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    @property
    def step(self) -> int:
        return int(self.texts("#now")[0].split()[1])

    def complaints(self) -> list[Any]:
        found: list[Any] = self.driver.get_log("browser")
        return found


@pytest.fixture
def reader(browser: Any, pages: dict[str, Path]) -> Iterator[Reader]:
    """A reader; whatever they did, the console has nothing to say."""
    made = Reader(browser, pages)
    yield made
    assert made.complaints() == []


def test_every_kind_of_run_renders(reader: Reader) -> None:
    for name in reader.pages:
        reader.open(name)
        assert reader.count(".answer .token") > 0, name
        assert reader.count(".mask") == reader.count(".legend .mask"), name
        assert reader.run("return performance.getEntriesByType('resource').length") == 0
        assert reader.complaints() == [], name


def test_stepping_by_keys_buttons_and_slider(reader: Reader) -> None:
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


def test_playing_runs_to_the_end_and_stops(reader: Reader) -> None:
    reader.open("one", "#7")
    reader.run("document.getElementById('speed').value = '4'")
    reader.press(" ")
    assert reader.find("#play").get_attribute("aria-label") == "Pause"
    limit = time.monotonic() + 10
    while reader.find("#play").get_attribute("aria-label") == "Pause":
        assert time.monotonic() < limit
        time.sleep(0.05)
    assert reader.step == 12
    reader.find("#play").click()
    reader.find("#play").click()
    assert reader.step < 12 and reader.find("#play").get_attribute("aria-label") == "Play"


def test_the_colours_switch(reader: Reader) -> None:
    reader.open("one")
    bands = "return Array.from(document.querySelectorAll('.tokens .token'), e => e.className)"
    seen = {}
    for measure in ("peak", "instability", "total"):
        reader.run(f"document.querySelector('input[value={measure}]').click()")
        seen[measure] = reader.run(bands)
    assert seen["peak"] != seen["total"]
    assert all("band" in name for names in seen.values() for name in names)
    assert sum("core" in name for name in seen["peak"]) == 8


def test_a_token_tells_its_history(reader: Reader) -> None:
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


def test_two_methods_side_by_side(reader: Reader) -> None:
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


def test_text_is_text(reader: Reader) -> None:
    reader.open("hostile")
    assert reader.driver.title == "FoCore trace" and reader.count("img") == 0
    assert "<script>" in "".join(reader.texts(".prompt .token"))
    assert reader.texts("#subtitle")[0] == HOSTILE
    reader.open("strange")
    shown = "".join(reader.texts(".prompt .token"))
    assert "😀" in shown and "ש" in shown and "\u202e" not in shown and "U+202E" in shown
    assert "\u202e" not in reader.texts("#subtitle")[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_enough_and_a_phone_is_wide_enough(reader: Reader, scheme: str) -> None:
    wanted = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    reader.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    reader.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        reader.open("pair", "#6")
        assert reader.run("return document.documentElement.scrollWidth") <= 400
        for pair, contrast in reader.run(CONTRASTS).items():
            assert contrast >= 4.5, f"{scheme}: {pair} {contrast:.2f}"
    finally:
        reader.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_everything_has_a_name(reader: Reader) -> None:
    reader.open("pair")
    nameless = """return Array.from(document.querySelectorAll(
        'button, input, select, [role=img], [role=listbox], section'))
        .filter(e => !(e.getAttribute('aria-label') || (e.labels && e.labels.length)))
        .map(e => e.outerHTML.slice(0, 80))"""
    assert reader.run(nameless) == []
    assert reader.count("[role=listbox] > :not([role=option])") == 0
    assert reader.count("[role=option][tabindex='0']") == reader.count("[role=listbox]")


CONTRASTS = """
const style = getComputedStyle(document.documentElement);
const light = name => {
  const hex = style.getPropertyValue(name).trim().slice(1);
  const [r, g, b] = [0, 2, 4].map(i => parseInt(hex.slice(i, i + 2), 16) / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const pairs = [['--ink', '--page'], ['--ink', '--card'], ['--soft', '--page'], ['--soft', '--card'],
  ['--card', '--accent'], ['--differs', '--card'], ['--right', '--card'], ['--wrong', '--card'],
  ['--card', '--ink'], ...[0, 1, 2, 3].map(i => [`--on${i}`, `--band${i}`])];
return Object.fromEntries(pairs.map(([a, b]) => {
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return [`${a} on ${b}`, (high + 0.05) / (low + 0.05)];
}));
"""
