"""Reading a checkpoint's config.json into our `Config`, one key at a time."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import CheckpointError
from .weights import read_json

_MISSING = object()


@dataclass(frozen=True)
class Fields:
    """The keys of a config.json, with errors that name the file and the key."""

    path: Path
    values: Mapping[str, Any]

    def number(self, key: str, default: float) -> float:
        """A number above 0."""
        value = self._value(key, default)
        real = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not real or not 0 < value <= sys.float_info.max:
            raise self._wrong(key, "a number above 0")
        return float(value)

    def whole(self, key: str, default: Any = _MISSING, low: int = 1) -> int:
        """A whole number, by default above 0."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise self._wrong(key, f"a whole number of at least {low}")
        return value

    def _value(self, key: str, default: Any) -> Any:
        value = self.values.get(key)
        value = default if value is None else value
        if value is _MISSING:
            raise CheckpointError(f"{self.path}: key '{key}' is missing")
        return value

    def _wrong(self, key: str, expected: str) -> CheckpointError:
        return CheckpointError(
            f"{self.path}: key '{key}' is {self.values[key]!r}, expected {expected}"
        )

    def must_be(self, expected: Mapping[str, Any]) -> None:
        """Refuse a checkpoint of a form that the transformer does not have."""
        for key, wanted in expected.items():
            value = self.values.get(key)
            if value is not None and value != wanted:
                raise CheckpointError(
                    f"{self.path}: key '{key}' is {value!r}; only {wanted!r} is supported"
                )

    @cached_property
    def generation(self) -> dict[str, Any]:
        """What generation_config.json says; empty without the file."""
        path = self.path.with_name("generation_config.json")
        return read_json(path) if path.exists() else {}

    def end_ids(self) -> tuple[int, ...]:
        """End tokens, from config.json and generation_config.json."""
        found: list[int] = []
        for values in (self.values, self.generation):
            ids = values.get("eos_token_id")
            found += ids if isinstance(ids, list) else [] if ids is None else [ids]
        return tuple(dict.fromkeys(found))
