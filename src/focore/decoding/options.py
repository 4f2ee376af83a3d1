"""Options: declared once on the piece that uses them, checked when the piece is made."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from ..errors import OptionError, unknown

LARGEST = 1_000_000  # of counts: more is a slip that fills the memory
LARGEST_SEED = (1 << 63) - 1


@dataclass(frozen=True)
class Option:
    """One option: its default, its limits, and what it means."""

    name: str
    default: Any
    kind: type
    about: str
    low: float | None = None
    high: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()
    form: str = ""  # the values allowed, if no type says it

    @property
    def limit(self) -> str:
        """The values allowed, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        bounds = [
            f"{word} {bound}"
            for word, bound in (
                ("at least", self.low),
                ("above", self.above),
                ("at most", self.high),
            )
            if bound is not None
        ]
        noun = {int: "a whole number", float: "a number", bool: "true or false"}
        said = self.form or noun.get(self.kind, f"a {self.kind.__name__}")
        said = f"{said} {' and '.join(bounds)}".rstrip()
        return f"{said}, or none" if self.default is None else said

    def check(self, value: Any) -> Any:
        """The value in its right type, or an `OptionError` that names the limit."""
        if value is None and self.default is None:
            return None
        most = self.high or LARGEST
        if self.kind is int and isinstance(value, int) and value > most:
            raise OptionError(f"{self.name} is too large; it must be at most {most}")
        if not self._fits(value):
            raise OptionError(f"{self.name}={value!r} is not allowed; it must be {self.limit}")
        return float(value) if self.kind is float else value

    def _fits(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if self.kind in (int, float):
            return (
                is_finite(value)
                and isinstance(value, (int, self.kind))
                and (self.low is None or value >= self.low)
                and (self.high is None or value <= self.high)
                and (self.above is None or value > self.above)
            )
        return isinstance(value, self.kind)


def is_finite(value: Any) -> bool:
    """Whether this is a number that a float can hold."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and abs(value) <= sys.float_info.max


def option(default: Any, about: str, *, kind: type | None = None, **limits: Any) -> Any:
    """A dataclass field that users may set."""
    if kind is None:
        kind = str if "choices" in limits else type(default)
    return field(default=default, metadata={"option": {"kind": kind, "about": about, **limits}})


class Piece:
    """A frozen dataclass whose options are checked when it is made."""

    def __post_init__(self) -> None:
        for name, declared in options_of(type(self)).items():
            object.__setattr__(self, name, declared.check(getattr(self, name)))


def options_of(*pieces: type) -> dict[str, Option]:
    """The options that these pieces declare."""
    found: dict[str, Option] = {}
    for piece in pieces:
        for item in fields(piece):
            if "option" in item.metadata:
                assert item.default is not MISSING
                found[item.name] = Option(item.name, item.default, **item.metadata["option"])
    return found


def refuse_unknown(given: Mapping[str, Any], known: Mapping[str, Any], where: str) -> None:
    """An `OptionError` for the first name that is not an option."""
    for name in given:
        if name not in known:
            raise unknown(f"option of {where}", name, known)


@dataclass(frozen=True)
class Settings(Piece):
    """The options that every method takes."""

    gen_length: int = option(128, "tokens to generate", low=1)
    block_length: int | None = option(
        None,
        "tokens of a block; blocks are decoded from left to right (none: 32, and no blocks with "
        "Dream's schedule)",
        kind=int,
        low=1,
    )
    steps: int | None = option(
        None, "steps of the whole generation (none: gen_length)", kind=int, low=1
    )
    temperature: float = option(0.0, "randomness of tokens; 0 takes the best", low=0)
    top_p: float | None = option(
        None, "keep the fewest tokens with this much probability", kind=float, above=0, high=1
    )
    top_k: int | None = option(
        None,
        "keep this many tokens (none: all; with Dream's schedule, what the checkpoint says)",
        kind=int,
        low=1,
    )
    suppress_eos: bool = option(False, "never predict an end token")
    defer_eos: bool = option(False, "commit end tokens last")
    stop_at_eos: bool = option(False, "stop a row once its answer is fixed up to an end token")
    schedule: str = option("even", "how many tokens each step commits", choices=("even", "dream"))
    cache: str = option("none", "keys and values to keep", choices=("none", "prefix", "dual"))
    prefix: str | list[int] | None = option(
        None, "text fixed at the start of the answer", kind=object, form="text or token ids"
    )
    fixed: dict[int, Any] | None = option(
        None,
        "text fixed by offset in the answer",
        kind=dict,
        form="a mapping of offsets to text or token ids",
    )
