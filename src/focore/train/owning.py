"""Stories of things that are had, got, lost and shared."""

from __future__ import annotations

from .pieces import Piece, Theme

OWN = Piece(
    "own",
    (),
    (
        "{A} has {n} {things}.",
        "{A} had {n} {things}.",
        "{A} picked {n} {things}.",
        "There are {n} {things} in {A}'s {box}.",
    ),
    value="n",
)
BOTH = Piece(
    "both",
    (("n", "+", "m"),),
    (
        "{A} has {n} {red} and {m} {blue} {things}.",
        "{A} found {n} {things} in the morning and {m} in the evening.",
        "{A} bought {n} {things} on Monday and {m} on Friday.",
    ),
)
GROUPS = Piece(
    "groups",
    (("k", "*", "e"),),
    (
        "{A} has {k} {boxes} with {e} {things} each.",
        "{A} bought {k} {boxes} of {e} {things}.",
        "There are {k} {boxes}. Each {box} holds {e} {things}.",
    ),
)
RATE = Piece(
    "rate",
    (("e", "*", "k"),),
    (
        "{A} makes {e} {things} an hour for {k} hours.",
        "{A} collects {e} {things} every day for {k} days.",
    ),
)
MORE = Piece(
    "more",
    (("n", "+", "m"),),
    (
        "{B} has {n} {things}. {A} has {m} more than {B}.",
        "{A} has {m} more {things} than {B}, who has {n}.",
    ),
)
FEWER = Piece(
    "fewer",
    (("n", "-", "m"),),
    (
        "{B} has {n} {things}. {A} has {m} fewer than {B}.",
        "{A} has {m} fewer {things} than {B}, who has {n}.",
    ),
)
TIMES = Piece(
    "times",
    (("e", "*", "k"),),
    (
        "{B} has {e} {things}. {A} has {k} times as many.",
        "{A} has {k} times as many {things} as {B}, who has {e}.",
    ),
)
TWICE = Piece("twice", (("n", "*", "2"),), ("{B} has {n} {things}. {A} has twice as many as {B}.",))
BEFORE = Piece(
    "before",
    (("n", "-", "m"),),
    ("{A} had {n} {things} and lost {m}.", "Of {A}'s {n} {things}, {m} are broken."),
)

GAIN = Piece(
    "gain",
    (("v", "+", "n"),),
    (
        "{He} buys {n} more.",
        "{C} gives {him} {n} more.",
        "Then {he} finds {n} {things}.",
        "{He} gets {n} {things} from {C}.",
    ),
)
LOSS = Piece(
    "loss",
    (("v", "-", "n"),),
    (
        "{He} loses {n}.",
        "{He} gives {n} {things} to {C}.",
        "Then {he} sells {n} of them.",
        "{C} takes {n} of {his} {things}.",
    ),
)
GAIN_GROUPS = Piece(
    "gain groups",
    (("k", "*", "e"), ("v", "+", "_")),
    ("{He} buys {k} {boxes} of {e} {things}.", "{k} friends give {him} {e} {things} each."),
)
LOSS_GROUPS = Piece(
    "loss groups",
    (("k", "*", "e"), ("v", "-", "_")),
    (
        "{He} gives {e} {things} to each of {k} friends.",
        "{He} uses {e} a day for {k} days.",
        "{He} sells {k} {boxes} of {e} {things}.",
    ),
)
HALF = Piece("half", (("v", "/", "2"),), ("{He} gives half of them to {C}.", "{He} loses half."))
GROW = Piece("grow", (("v", "*", "k"),), ("Soon {he} has {k} times as many.",))

NOW = Piece(
    "now",
    (),
    ("How many {things} does {A} have now?", "How many {things} does {he} have in the end?"),
)
SHARE = Piece(
    "share",
    (("v", "/", "k"),),
    (
        "{He} shares them equally among {k} friends. How many does each friend get?",
        "{He} puts them into {k} {boxes} equally. How many {things} are in each {box}?",
    ),
)
PACK = Piece(
    "pack",
    (("v", "/", "k"),),
    (
        "Each {box} holds {k} {things}. How many {boxes} does {he} need?",
        "{He} uses {k} a day. How many days do they last?",
    ),
)
SELL = Piece(
    "sell",
    (("v", "*", "k"),),
    (
        "{He} sells each for ${k}. How much money does {he} get?",
        "Each is worth ${k}. How many dollars are they worth?",
    ),
)
NEED = Piece(
    "need",
    (("N", "-", "v"),),
    (
        "{He} wants {N} {things}. How many more does {he} need?",
        "How many more {things} does {he} need to have {N}?",
    ),
)
THAN = Piece(
    "than",
    (("v", "-", "n"),),
    (
        "{D} has {n} {things}. How many more {things} does {A} have than {D}?",
        "{D} has {n}. How many fewer {things} does {D} have than {A}?",
    ),
)
TOGETHER = Piece(
    "together",
    (("v", "+", "n"),),
    (
        "{D} has {n} {things}. How many do {A} and {D} have together?",
        "{D} has {n}. How many {things} do they have in all?",
    ),
)

OWNING = Theme(
    (OWN, BOTH, GROUPS, RATE, MORE, FEWER, TIMES, TWICE, BEFORE),
    (GAIN, LOSS, GAIN_GROUPS, LOSS_GROUPS, HALF, GROW),
    (NOW, SHARE, PACK, SELL, NEED, THAN, TOGETHER),
)
