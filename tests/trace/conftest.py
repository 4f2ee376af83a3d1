"""A small random model with a tokenizer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import focore
from focore.loading import Model
from tests.support import LLADA, write_checkpoint
from tests.tokenizers import write_tokenizer


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    write_checkpoint(path, replace(LLADA, vocabulary=300, mask_id=1, end_ids=(0,), max_length=256))
    write_tokenizer(path)
    return path


@pytest.fixture(scope="session")
def model(folder: Path) -> Model:
    return focore.load(folder)
