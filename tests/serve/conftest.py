"""A small random model with a tokenizer, and a server of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import focore
from focore.loading import Model
from focore.serve.settings import ServeSettings
from tests.serve.live import Live
from tests.support import LLADA, write_checkpoint
from tests.tokenizers import write_tokenizer


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "small"
    write_checkpoint(path, replace(LLADA, vocabulary=300, mask_id=1, end_ids=(0,), max_length=512))
    write_tokenizer(path)
    return path


@pytest.fixture(scope="session")
def model(folder: Path) -> Model:
    """The same model for runs of its own."""
    return focore.load(folder, dtype="float32")


@pytest.fixture(scope="session")
def settings(folder: Path) -> ServeSettings:
    return ServeSettings(model=str(folder))


@pytest.fixture(scope="module")
def live(settings: ServeSettings) -> Iterator[Live]:
    with Live(settings) as server:
        yield server
