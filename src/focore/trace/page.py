"""One self-contained page from one trace, or from several of the same prompt."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np

from ..core import BANDS
from ..version import __version__
from .trace import Array, Trace

STYLES = ("shared.css", "page.css")
SCRIPTS = ("shared.js", "run.js", "spelling.js", "tokens.js", "plots.js", "inspector.js", "page.js")
LEGEND = [{"floor": floor, "name": name} for floor, name in BANDS]
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def page(traces: Sequence[Trace], *, title: str = "", truth: str | None = None) -> str:
    """The page as HTML. With the `truth`, answers are marked right or wrong."""
    style, script = _style(), _script()
    data = {
        "version": __version__,
        "bands": LEGEND,
        "title": title,
        "truth": truth,
        "runs": [_run(trace, truth) for trace in traces],
    }
    filled = {
        "{{policy}}": _policy(),
        "{{style}}": style,
        "{{data}}": embedded(data),
        "{{script}}": script,
    }
    # One pass over the template: what is filled in is never searched for another place.
    return re.sub("|".join(filled), lambda match: filled[match[0]], asset("page.html"))


def is_right(answer: str, truth: str) -> bool:
    """Whether an answer is the truth: its last number, if that is one, or the text in it."""
    if NUMBER.fullmatch(truth.strip()):
        numbers = NUMBER.findall(answer)
        return bool(numbers) and _number(numbers[-1]) == _number(truth)
    return truth.strip().casefold() in answer.casefold()


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def asset(name: str) -> str:
    """The text of one of the page's parts; those called `shared` serve other pages too."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def inline_hashes() -> tuple[str, str]:
    """The page's own style and script, as a content policy names them."""
    return _hash(_style()), _hash(_script())


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _style() -> str:
    return "".join(map(asset, STYLES))


def _script() -> str:
    return "'use strict';\n" + "\n".join(map(asset, SCRIPTS))


def _policy() -> str:
    """A content policy under which nothing else runs, and nothing is fetched."""
    style, script = inline_hashes()
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; "
        "base-uri 'none'; form-action 'none'"
    )


def embedded(data: Any) -> str:
    """JSON that no text in it can end: `<`, `>`, `&` only as escapes."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _run(trace: Trace, truth: str | None) -> dict[str, Any]:
    """A trace as the page's script reads it."""
    about = trace.about
    return {
        "model": about.model,
        "method": about.method or "run",
        "options": {name: str(value) for name, value in about.options.items()},
        "seed": about.seed,
        "start": about.start,
        "mask": about.mask_id,
        "ends": list(about.end_ids),
        "measured": about.measured,
        "pieces": {str(token): text for token, text in about.pieces.items()},
        "joined": about.joined,
        "first": trace.canvas[0].tolist(),
        "changes": _changes(trace.canvas),
        "confidence": _trimmed(trace.confidence),
        "instability": _trimmed(trace.instability),
        "divergence": _trimmed(trace.divergence),
        "core": _bits(trace.core),
        "hidden": _bits(trace.hidden),
        "convergence": [_rounded(value) for value in trace.convergence.tolist()],
        "passes": trace.passes.tolist(),
        "seconds": [round(value, 5) for value in trace.seconds.tolist()],
        "candidates": _candidates(trace),
        "right": None if truth is None else is_right(answer_text(trace), truth),
    }


def answer_text(trace: Trace) -> str:
    """The answer up to its first end token, put together from its pieces."""
    ids, about = trace.answer, trace.about
    stop = next((i for i, token in enumerate(ids) if token in about.end_ids), len(ids))
    text, place = "", 0
    while place < stop:
        size = next((n for n in range(8, 1, -1) if _key(ids[place : place + n]) in about.joined), 1)
        some = ids[place : place + size]
        text += about.joined.get(_key(some), about.pieces.get(some[0], ""))
        place += size
    return text


def _key(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))


def _changes(canvas: Array) -> list[list[int]]:
    """For each step: position, token, position, token, ..."""
    found = []
    for before, after in pairwise(canvas):
        where = np.flatnonzero(before != after)
        found.append(np.stack((where, after[where]), axis=1).flatten().tolist())
    return found


def _trimmed(values: Array) -> dict[str, Any]:
    """Each step from its first to its last value that is not 0, float16 in base64."""
    bounds, kept = [], []
    for row in values:
        where = np.flatnonzero(row)
        low, high = (int(where[0]), int(where[-1]) + 1) if len(where) else (0, 0)
        bounds += [low, high]
        kept.append(row[low:high])
    joined = np.concatenate(kept) if kept else np.zeros(0)
    return {"bounds": bounds, "values": _text(joined.astype("<f2"))}


def _bits(values: Array) -> str:
    return _text(np.packbits(values))


def _text(values: Array) -> str:
    return base64.b64encode(values.tobytes()).decode()


def _candidates(trace: Trace) -> dict[str, list[float]]:
    """For each position that has some: token, probability, token, probability, ..."""
    found = {}
    for position in np.flatnonzero(trace.candidate[:, 0] >= 0).tolist():
        pairs = zip(trace.candidate[position], trace.likelihood[position], strict=True)
        kept = [(int(token), round(float(p), 4)) for token, p in pairs if token >= 0]
        found[str(position)] = [value for pair in kept for value in pair]
    return found


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.4g}")
