"""Values between two processes that do not trust each other: plain data by value, the rest by name.

The sample's process serves; the tests' process asks. What comes back is only ever data or a
`Handle`, an object of the tests' side that equals nothing but itself: no method of the sample's
ever runs on the side that judges.
"""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Iterator
from typing import Any

LARGEST = 4_000_000  # bytes of a message
LONGEST = 100_000  # items taken from an iterator
PLAIN = (bool, int, float, str, type(None))
SEQUENCES = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


class Broken(Exception):
    """The other side has ended, or does not keep to the rules."""


class Channel:
    """Messages over two pipes, each a length and JSON."""

    def __init__(self, read: int, write: int):
        self.read, self.write = read, write

    def send(self, message: Any) -> None:
        data = json.dumps(message).encode()
        data = len(data).to_bytes(4, "big") + data
        while data:
            data = data[os.write(self.write, data) :]

    def receive(self) -> Any:
        size = int.from_bytes(self._take(4), "big")
        if size > LARGEST:
            raise Broken(f"a value of {size} bytes")
        return json.loads(self._take(size))

    def _take(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = os.read(self.read, size - len(data))
            if not more:
                raise Broken("the program ended")
            data += more
        return data


class Objects:
    """The sample's side: its namespace, and the objects that it has handed out."""

    def __init__(self, namespace: dict[str, Any]):
        self.namespace = namespace
        self.given: list[Any] = []

    def encode(self, value: Any) -> Any:
        if type(value) in PLAIN:
            return value
        if type(value) is complex:
            return {"complex": [value.real, value.imag]}
        if type(value) in (bytes, bytearray):
            return {"bytes": list(value)}
        for name, kind in SEQUENCES.items():
            if isinstance(value, kind):
                return {name: [self.encode(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        self.given.append(value)
        return {"handle": len(self.given) - 1}

    def answer(self, request: list[Any]) -> Any:
        """The result of one request, as `["value", ...]` or `["error", type, text]`."""
        try:
            return ["value", self.encode(self._perform(*request))]
        except BaseException as error:
            return ["error", type(error).__name__, str(error)[:500]]

    def _perform(self, action: str, *rest: Any) -> Any:
        if action == "name":
            return self.namespace[rest[0]]
        target = self.given[rest[0]]
        if action == "call":
            arguments = [decode(item, self.given.__getitem__) for item in rest[1]]
            named = {key: decode(item, self.given.__getitem__) for key, item in rest[2].items()}
            return target(*arguments, **named)
        if action == "get":
            return getattr(target, rest[1])
        if action == "set":
            return setattr(target, rest[1], decode(rest[2], self.given.__getitem__))
        return [item for item, _ in zip(target, range(LONGEST), strict=False)]


class Handle:
    """The tests' side: an object of the sample's that is not plain data."""

    __slots__ = ("_ask", "_index")

    def __init__(self, ask: Asker, index: int):
        object.__setattr__(self, "_ask", ask)
        object.__setattr__(self, "_index", index)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        sent = {key: encode(value) for key, value in named.items()}
        return self._ask("call", self._index, [encode(item) for item in arguments], sent)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._ask("get", self._index, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("set", self._index, name, encode(value))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._ask("list", self._index))


class Asker:
    """Ask the sample's side for something, and wait for the answer."""

    def __init__(self, channel: Channel):
        self.channel = channel

    def __call__(self, *request: Any) -> Any:
        try:
            self.channel.send(request)
            kind, *rest = self.channel.receive()
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise Broken(f"{type(error).__name__}: {error}") from None
        if kind == "value":
            return decode(rest[0], lambda index: Handle(self, index))
        raised = getattr(builtins, str(rest[0]), None)
        known = isinstance(raised, type) and issubclass(raised, Exception)
        raise (raised if known else Exception)(f"{rest[0]}: {rest[1]}")  # type: ignore[misc]


def encode(value: Any) -> Any:
    """A value of the tests' side."""
    if isinstance(value, Handle):
        return {"handle": value._index}
    return Objects({}).encode(value)


def decode(value: Any, find: Any) -> Any:
    """The value that was encoded; `find` turns an index into what stands for the object."""
    if not isinstance(value, dict):
        return value
    ((kind, body),) = value.items()
    if kind == "handle":
        return find(int(body))
    if kind == "complex":
        return complex(*body)
    if kind == "bytes":
        return bytes(body)
    if kind == "dict":
        return {decode(k, find): decode(v, find) for k, v in body}
    return SEQUENCES[kind](decode(item, find) for item in body)
