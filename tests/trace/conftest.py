"""A small random model with a tokenizer, and a browser if there is one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import focore
from focore.loading import Model
from tests.support import LLADA, write_checkpoint
from tests.tokenizers import write_tokenizer

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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    write_checkpoint(path, replace(LLADA, vocabulary=300, mask_id=1, end_ids=(0,), max_length=256))
    write_tokenizer(path)
    return path


@pytest.fixture(scope="session")
def model(folder: Path) -> Model:
    return focore.load(folder)


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
