"""How much one request, and all of them together, may ask for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..errors import OptionError

STOPS = 4  # strings, as in OpenAI's API
STOP_CHARACTERS = 256
CHARACTERS_A_TOKEN = 16  # a longer text is refused before it is tokenized
LARGEST = 10_000  # of any number among a method's options
COSTLY = {"beam_width": 8, "history_length": 64}  # options that multiply work or memory
TOKEN_IDS = ("prefix", "fixed")  # checked against the vocabulary


@dataclass(frozen=True)
class Limits:
    """The limits of a server; all above zero."""

    tokens: int = 1024  # of one answer
    prompt_tokens: int = 4096
    messages: int = 256
    prompts: int = 16  # of one request
    body_bytes: int = 1 << 20
    body_seconds: float = 10.0  # for a body to arrive
    request_seconds: float = 300.0  # waiting included
    rows: int = 32  # decoded side by side
    waiting: int = 512  # rows in the queue
    grace_seconds: float = 30.0  # for running requests once the server is told to stop
    backlog: int = 64  # steps kept for a client that reads slowly
    traces: int = 64  # pages kept
    trace_bytes: int = 256 << 20  # of all of them
    trace_cells: int = 2 << 20  # of one: steps times positions

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not value > 0 or not math.isfinite(value):
                raise OptionError(f"{item.name}={value} is not allowed; it must be above 0")


def check_numbers(options: Mapping[str, Any]) -> None:
    """Refuse numbers that would take the engine's time or memory for nothing."""
    for name, value in options.items():
        if name in TOKEN_IDS:
            continue
        bound = COSTLY.get(name, LARGEST)
        for number in _numbers(value):
            if not -bound <= number <= bound:
                raise OptionError(f"{name} is not allowed above {bound} on this server")


def _numbers(value: Any) -> list[float]:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [value]
    return [n for item in value for n in _numbers(item)] if isinstance(value, list) else []
