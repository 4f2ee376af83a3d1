"""Traces on disk: one zip of arrays (npz), what a run was as JSON inside it.

The canvas is kept as its first state and what each step changed, bools as bits, S, D and
probabilities as float16 (three decimals, nothing below 6e-8).
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CheckpointError, OptionError, first_line
from .trace import POSITIONWISE, STEPWISE, About, Array, Trace

VERSION = 1
BITS = ("committed", "core", "hidden")
ABOUT = {field.name for field in fields(About)}


def save(trace: Trace, path: str | Path) -> None:
    """Write a trace to one file."""
    about = {"format": "focore trace", "version": VERSION, **asdict(trace.about)}
    step, position = (trace.canvas[1:] != trace.canvas[:-1]).nonzero()
    arrays: dict[str, Array] = {
        "about": np.frombuffer(json.dumps(about, default=str).encode(), dtype=np.uint8),
        "first": trace.canvas[0],
        "changed": np.stack((step, position, trace.canvas[1:][step, position])).astype(np.int32),
        "candidate": trace.candidate,
        "likelihood": trace.likelihood,
    }
    for name in STEPWISE:
        value = getattr(trace, name)
        arrays[name] = np.packbits(value) if name in BITS else value
    made = io.BytesIO()
    np.savez_compressed(made, **arrays)  # type: ignore[arg-type]
    write(path, made.getvalue())


def write(path: str | Path, content: bytes) -> None:
    """Write a file that the user named."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise OptionError(f"{path}: cannot be written ({error.strerror})") from None


def load(path: str | Path) -> Trace:
    """Read a trace; one that is damaged or no trace at all is a `CheckpointError`."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            return _read(stored)
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None
    except (
        OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, EOFError,
        NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error,
    ) as error:  # fmt: skip
        said = first_line(error)
        raise CheckpointError(f"{path}: not a trace, or a damaged one ({said})") from None


def _read(stored: Any) -> Trace:
    said = json.loads(stored["about"].tobytes())
    if said["format"] != "focore trace":
        raise CheckpointError(f"format {said['format']!r} is not a trace")
    if said["version"] != VERSION:
        raise CheckpointError(f"trace of version {said['version']}; this focore reads {VERSION}")
    steps, length = len(stored["passes"]), len(stored["first"])
    arrays = {name: _stepwise(name, stored[name], steps, length) for name in STEPWISE}
    canvas = _canvas(stored["first"], stored["changed"], steps)
    candidate, likelihood = stored["candidate"], stored["likelihood"]
    if candidate.shape != likelihood.shape or len(candidate) != length:
        raise CheckpointError("candidates that do not fit the canvas")
    return Trace(_about(said), canvas, candidate=candidate, likelihood=likelihood, **arrays)


def _stepwise(name: str, value: Array, steps: int, length: int) -> Array:
    """An array with one entry or one row for each step."""
    shape = (steps, length) if name in POSITIONWISE else (steps,)
    if name in BITS:
        value = np.unpackbits(value, count=steps * length).astype(np.bool_).reshape(shape)
    if value.shape != shape or value.dtype != STEPWISE[name]:
        raise CheckpointError(f"{name} of shape {value.shape} and {value.dtype}, not {shape}")
    return value


def _canvas(first: Array, changed: Array, steps: int) -> Array:
    """The canvas before the first step and after each."""
    canvas = np.repeat(first[None], steps + 1, axis=0)
    step, position, token = changed
    for at, where, what in zip(step, position, token, strict=True):
        canvas[at + 1 :, where] = what
    return canvas


def _about(said: dict[str, Any]) -> About:
    known = {name: said[name] for name in ABOUT}
    known["end_ids"] = tuple(known["end_ids"])
    known["pieces"] = {int(token): text for token, text in known["pieces"].items()}
    fixed = known["options"].get("fixed")
    if fixed:  # JSON has no whole numbers as keys
        known["options"]["fixed"] = {int(offset): piece for offset, piece in fixed.items()}
    return About(**known)
