"""Rows of a batch come and go: one way to pick and to join rows of anything that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


def take(value: T, rows: Tensor) -> T:
    """`value` with only the rows named, in that order.

    Tensors are indexed along their first axis; dataclasses, lists, tuples and dicts are gone
    through; an object with a method `take` does it itself; anything else belongs to all rows.
    """
    picked: Any = value
    if isinstance(value, Tensor):
        picked = value.index_select(0, rows)
    elif hasattr(value, "take"):
        picked = value.take(rows)
    elif isinstance(value, dict):
        picked = {key: take(item, rows) for key, item in value.items()}
    elif isinstance(value, (list, tuple)):
        picked = type(value)(take(item, rows) for item in value)
    elif is_dataclass(value) and not isinstance(value, type):
        held = {f.name: take(getattr(value, f.name), rows) for f in fields(value) if f.init}
        picked = replace(value, **held)
    return picked  # type: ignore[no-any-return]


def join(values: Sequence[T]) -> T:
    """The rows of values of one kind, one below the other; what belongs to all is the first's."""
    first: Any = values[0]
    if isinstance(first, Tensor):
        return torch.cat(values)  # type: ignore[arg-type, return-value]
    if is_dataclass(first) and not isinstance(first, type):
        names = [f.name for f in fields(first) if f.init]
        held = {name: join([getattr(value, name) for value in values]) for name in names}
        return replace(first, **held)  # type: ignore[return-value]
    return first  # type: ignore[no-any-return]
