"""What word problems are made of: pieces of stories, and whom and what they are about.

A step is (left, operator, right). `v` is the running value, `_` the result of the step before,
a digit itself; the other letters are numbers drawn for the piece (see `RANGES`).
"""

from __future__ import annotations

from dataclasses import dataclass

RANGES = {"n": (2, 99), "m": (2, 99), "j": (2, 60), "k": (2, 12), "e": (2, 30), "N": (20, 300)}

Steps = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Piece:
    """A part of a story: what it does to the running value, and how it can be said."""

    kind: str
    steps: Steps
    wordings: tuple[str, ...]
    value: str = ""  # the number that starts the running value, for a piece without steps


@dataclass(frozen=True)
class Theme:
    """Pieces that can follow each other: one start, some events, one question."""

    starts: tuple[Piece, ...]
    events: tuple[Piece, ...]
    ends: tuple[Piece, ...]


HERS = (
    "Ann",
    "Mia",
    "Eva",
    "Lucy",
    "Rosa",
    "Nina",
    "Sara",
    "Zoe",
    "Kim",
    "Jane",
    "Emma",
    "Lily",
    "Ruth",
    "Ivy",
    "Anna",
    "Maya",
)
HIS = (
    "Tom",
    "Ben",
    "Sam",
    "Leo",
    "Max",
    "Paul",
    "Omar",
    "Jack",
    "Luis",
    "Adam",
    "Noah",
    "Finn",
    "Ravi",
    "Carl",
    "Hugo",
    "Dan",
)
THINGS = (
    "apples",
    "pears",
    "plums",
    "eggs",
    "shells",
    "stamps",
    "cards",
    "coins",
    "beads",
    "marbles",
    "stones",
    "books",
    "pens",
    "pencils",
    "buttons",
    "stickers",
    "cookies",
    "cakes",
    "muffins",
    "candies",
    "flowers",
    "roses",
    "seeds",
    "toys",
    "balloons",
    "nuts",
)
BOXES = {"box": "boxes", "bag": "bags", "basket": "baskets", "pack": "packs", "jar": "jars"}
COLOURS = ("red", "blue", "green", "white", "small", "big")
GOODS = ("hat", "ball", "lamp", "book", "game", "shirt", "watch", "bike", "coat", "chair")
RIDES = ("train", "bus", "car", "truck", "boat")
