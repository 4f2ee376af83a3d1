"""Rows of a batch come and go: one way to pick, join and resize rows of anything that holds them.

Tensors have rows along their first axis and, if they have more than one, positions along their
second. Dataclasses, lists, tuples and dicts are gone through; an object that is laid out otherwise
has a method of the same name; anything else belongs to all rows. What is None in one of the values
joined is filled with zeros: memory of a row that has not begun is never read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor

T = TypeVar("T")


def take(value: T, rows: Tensor) -> T:
    """`value` with only the rows named, in that order."""
    found: Any = value
    if isinstance(value, Tensor):
        found = value.index_select(0, rows)
    elif hasattr(value, "take"):
        found = value.take(rows)
    else:
        found = _through([value], lambda parts: take(parts[0], rows))
    return cast(T, found)


def resize(value: T, length: int) -> T:
    """`value` with `length` positions a row; what is cut or added is padding."""
    found: Any = value
    if isinstance(value, Tensor):
        if value.dim() > 1:
            more = max(0, length - value.shape[1])
            found = F.pad(value, (0, 0) * (value.dim() - 2) + (0, more))[:, :length]
    elif hasattr(value, "resize"):
        found = value.resize(length)
    else:
        found = _through([value], lambda parts: resize(parts[0], length))
    return cast(T, found)


def join(values: Sequence[T], sizes: Sequence[int]) -> T:
    """The rows of values of one kind and length, `sizes` many of each, one below the other."""
    first: Any = next((value for value in values if value is not None), None)
    if isinstance(first, Tensor):
        blank = [first.new_zeros((size, *first.shape[1:])) for size in sizes]
        parts: Any = [b if v is None else v for v, b in zip(values, blank, strict=True)]
        first = torch.cat(parts)
    elif hasattr(first, "join") and not isinstance(first, str):
        first = first.join(values, sizes)
    else:
        first = _through(values, lambda parts: join(parts, sizes))
    return cast(T, first)


def _through(values: Sequence[Any], each: Callable[[list[Any]], Any]) -> Any:
    """A value of the same kind as these, each part of it made from theirs."""
    first = next((value for value in values if value is not None), None)
    if isinstance(first, dict):
        keys = dict.fromkeys(key for value in values for key in value or ())
        return {key: each([(value or {}).get(key) for value in values]) for key in keys}
    if isinstance(first, (list, tuple)):
        places = range(len(first))
        return type(first)(each([v[i] if v else None for v in values]) for i in places)
    if is_dataclass(first) and not isinstance(first, type):
        names = [item.name for item in fields(first) if item.init]
        return replace(first, **{n: each([getattr(v, n, None) for v in values]) for n in names})
    return first
