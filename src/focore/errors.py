"""What can go wrong, as one clear line each."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class OptionError(ValueError):
    """An unknown name or a value out of range, said by the user."""


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; names the file and the key."""


class DecodingError(RuntimeError):
    """A model whose predictions cannot be decoded, such as NaN logits."""


def first_line(error: BaseException) -> str:
    """The first line of what an error says, or its name if it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def unknown(kind: str, name: object, known: Iterable[str]) -> OptionError:
    """An `OptionError` that names the nearest valid name, or all of them."""
    names = sorted(known)
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
    return OptionError(f"unknown {kind} {name!r}; {hint}")
