"""Stories of money and of journeys."""

from __future__ import annotations

from .pieces import Piece, Theme

MONEY = Theme(
    (
        Piece("purse", (), ("{A} has ${n}.", "{A} saved ${n}."), value="n"),
        Piece(
            "wage",
            (("e", "*", "k"),),
            ("{A} earns ${e} an hour and works {k} hours.", "{A} saves ${e} a week for {k} weeks."),
        ),
        Piece("two jobs", (("n", "+", "m"),), ("{A} earned ${n} in May and ${m} in June.",)),
    ),
    (
        Piece(
            "buy",
            (("v", "-", "n"),),
            ("{He} buys a {good} for ${n}.", "{He} spends ${n}.", "{He} pays {C} ${n}."),
        ),
        Piece(
            "buy many",
            (("k", "*", "e"), ("v", "-", "_")),
            ("{He} buys {k} {things} at ${e} each.", "{He} pays ${e} a day for {k} days."),
        ),
        Piece("gift", (("v", "+", "n"),), ("{C} gives {him} ${n}.", "Then {he} finds ${n}.")),
        Piece(
            "sales",
            (("k", "*", "e"), ("v", "+", "_")),
            ("{He} sells {k} {things} for ${e} each.",),
        ),
    ),
    (
        Piece(
            "left",
            (),
            ("How much money does {A} have now?", "How many dollars does {he} have in the end?"),
        ),
        Piece(
            "short",
            (("N", "-", "v"),),
            ("A {good2} costs ${N}. How many more dollars does {he} need?",),
        ),
        Piece(
            "afford",
            (("v", "/", "k"),),
            ("How many {others} can {he} buy at ${k} each?",),
        ),
        Piece(
            "split",
            (("v", "/", "k"),),
            ("{He} shares the money equally among {k} friends. How many dollars does each get?",),
        ),
        Piece(
            "richer",
            (("v", "-", "n"),),
            ("{D} has ${n}. How many more dollars does {A} have than {D}?",),
        ),
    ),
)

TRAVEL = Theme(
    (
        Piece(
            "speed",
            (("e", "*", "k"),),
            (
                "A {ride} goes {e} miles an hour for {k} hours.",
                "A {ride} drives {k} hours at {e} miles an hour.",
            ),
        ),
        Piece("legs", (("n", "+", "m"),), ("A {ride} goes {n} miles north and {m} miles east.",)),
        Piece("leg", (), ("A {ride} goes {n} miles.",), value="n"),
    ),
    (
        Piece("on", (("v", "+", "n"),), ("Then it goes {n} miles more.",)),
        Piece("back", (("v", "-", "n"),), ("Then it comes {n} miles back.",)),
        Piece("again", (("v", "*", "k"),), ("It does so {k} times.",)),
        Piece(
            "faster",
            (("k", "*", "e"), ("v", "+", "_")),
            ("Then it goes {e} miles an hour for {k} hours.",),
        ),
    ),
    (
        Piece("far", (), ("How many miles is that in all?", "How far is it then?")),
        Piece(
            "rest",
            (("N", "-", "v"),),
            ("The whole way is {N} miles. How many miles are left?",),
        ),
        Piece(
            "fuel", (("v", "/", "k"),), ("It goes {k} miles on a litre. How many litres is that?",)
        ),
        Piece("fare", (("v", "*", "k"),), ("A mile costs ${k}. How many dollars is that?",)),
    ),
)
