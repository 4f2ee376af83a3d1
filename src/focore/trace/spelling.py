"""The text of tokens, for a page that draws them one by one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..loading import Model
from .trace import Array

BROKEN = "\ufffd"  # what a tokenizer says of bytes that are no character
LONGEST = 8  # tokens of one character


def pieces(model: Model, ids: Iterable[int]) -> dict[int, str]:
    """The text of each token; its number without a tokenizer."""
    found = sorted(set(ids) - {-1})
    if model.text is None:
        return {token: f"{token} " for token in found}
    return dict(zip(found, model.text.pieces(found), strict=True))


def joined(model: Model, canvas: Array, spelt: dict[int, str]) -> dict[str, str]:
    """Characters that a tokenizer spreads over several tokens, such as emoji, as "id,id" -> text.

    The page looks them up in each canvas, so a character appears once its last token is written.
    """
    broken = [token for token, text in spelt.items() if BROKEN in text]
    if model.text is None or not broken:
        return {}
    runs: set[tuple[int, ...]] = set()
    for tokens in canvas:
        runs |= _runs(tokens, np.isin(tokens, broken))
    return {
        ",".join(map(str, ids)): text for run in sorted(runs) for ids, text in _split(model, run)
    }


def _runs(tokens: Array, among: Array) -> set[tuple[int, ...]]:
    """The longest runs of tokens that are among those in question."""
    edges = np.flatnonzero(np.diff(among, prepend=False, append=False))
    bounds = zip(edges[::2], edges[1::2], strict=True)
    return {tuple(tokens[low:high].tolist()) for low, high in bounds}


def _split(model: Model, run: tuple[int, ...]) -> Iterable[tuple[tuple[int, ...], str]]:
    """The shortest groups of a run that are characters."""
    assert model.text is not None
    place = 0
    while place < len(run):
        for size in range(2, LONGEST + 1):
            ids = run[place : place + size]
            text = model.text.tokenizer.decode(list(ids))
            if len(ids) == size and BROKEN not in text:
                yield ids, text
                place += size - 1
                break
        place += 1
