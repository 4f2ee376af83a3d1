"""Rows of a batch come and go: one way to pick rows out of anything that holds them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

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
