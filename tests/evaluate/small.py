"""A small random checkpoint with a tokenizer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support import LLADA, write_checkpoint
from tests.tokenizers import write_tokenizer


def write_small(folder: Path, *, chat: bool = True, seed: int = 0, length: int = 512) -> Path:
    """Random weights, so its answers are noise, and always the same noise."""
    config = replace(LLADA, vocabulary=320, mask_id=1, end_ids=(0,), max_length=length)
    write_checkpoint(folder, config, seed=seed)
    write_tokenizer(folder, chat)
    return folder
