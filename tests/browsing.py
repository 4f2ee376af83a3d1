"""A browser if there is one, and someone who reads a page in it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,1000",
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium without a window."""
    missing = _missing()
    if missing and os.environ.get("FOCORE_REQUIRE_BROWSER"):
        pytest.fail(f"FOCORE_REQUIRE_BROWSER is set, but {missing}", pytrace=False)
    if missing:
        pytest.skip(missing)
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=ChromeService(str(DRIVER)))
    yield driver
    driver.quit()


def _missing() -> str:
    for file in (CHROMIUM, DRIVER):
        if not file.exists():
            return f"there is no {file}; run scripts/install-chromium"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed"
    return ""


class Reader:
    """Someone with a page before them."""

    def __init__(self, driver: Any):
        self.driver = driver

    def visit(self, address: str) -> None:
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(address)

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

    def wait(self, holds: Callable[[], Any], seconds: float = 60) -> Any:
        """What `holds` gives once it is true; `seconds` only bound a test that fails."""
        limit = time.monotonic() + seconds
        while not (found := holds()):
            assert time.monotonic() < limit, "waited in vain"
            time.sleep(0.02)
        return found

    @contextmanager
    def screen(self, scheme: str = "light", width: int = 400, **media: str) -> Iterator[None]:
        """Another screen: light or dark, as narrow as a phone, with other wishes."""
        wishes = {"prefers-color-scheme": scheme} | media
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        command = self.driver.execute_cdp_cmd
        command("Emulation.setEmulatedMedia", {"features": features})
        command("Emulation.setDeviceMetricsOverride", size)
        try:
            yield
        finally:
            command("Emulation.clearDeviceMetricsOverride", {})
            command("Emulation.setEmulatedMedia", {"features": []})

    def complaints(self) -> list[Any]:
        found: list[Any] = self.driver.get_log("browser")
        return found


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
NAMELESS = """return Array.from(document.querySelectorAll(
    'button, input:not([hidden]), textarea, select, [role=img], [role=listbox], section'))
    .filter(e => !(e.getAttribute('aria-label') || (e.labels && e.labels.length)
        || (e.tagName === 'BUTTON' && e.textContent.trim())))
    .map(e => e.outerHTML.slice(0, 80))"""
