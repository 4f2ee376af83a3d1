"""What all tests share: the goldens beside the checkout, and a browser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

from tests.browsing import browser  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

for kind in ("CACHE", "CONFIG"):  # of matplotlib and the browser: nothing is left outside
    os.environ.setdefault(f"XDG_{kind}_HOME", str(ROOT / ".pytest_cache" / kind.lower()))

torch.set_num_threads(1)  # the models are small: threads only wait for each other
settings.register_profile(
    "focore",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("focore")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SHARED.is_dir() or os.environ.get("FOCORE_REQUIRE_SHARED"):
        return
    skip = pytest.mark.skip(reason="needs the goldens and data in ../shared")
    for item in items:
        if "shared" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def shared() -> Path:
    assert SHARED.is_dir(), "FOCORE_REQUIRE_SHARED is set, but ../shared is not there"
    return SHARED
