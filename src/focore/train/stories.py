"""Whole stories, with the unknown at the start or in the middle, or two kinds told apart."""

from __future__ import annotations

from .pieces import Piece

STORIES = (
    Piece(
        "at first",
        (("n", "+", "m"), ("_", "+", "j")),
        (
            "{A} had some {things}. {He} gave {n} to {B} and {m} to {C}. Now {he} has {j}. "
            "How many did {he} have at first?",
            "{A} sold {n} {things} on Monday and {m} on Friday, and {j} are left. "
            "How many {things} did {he} have before?",
        ),
    ),
    Piece(
        "got off",
        (("n", "+", "m"), ("_", "-", "j")),
        (
            "There were {n} people on a bus. {m} got on and some got off. Now there are {j}. "
            "How many got off?",
            "{A} had {n} {things} and bought {m}. After giving some to {B} {he} has {j}. "
            "How many did {he} give to {B}?",
        ),
    ),
    Piece(
        "per box",
        (("N", "-", "n"), ("_", "/", "k")),
        (
            "{A} has {N} {things}. {n} are {red}, the others are in {k} {boxes} equally. "
            "How many {things} are in each {box}?",
            "{A} paid ${N} for a {good} of ${n} and {k} {others}. "
            "How many dollars was each of the {others}?",
        ),
    ),
    Piece(
        "two kinds",
        (("n", "-", "j"), ("_", "*", "k")),
        (
            "{A} has {n} {things} and {m} {others}. {He} loses {j} {things} "
            "and sells the other {things} for ${k} each. How many dollars does {he} get?",
        ),
    ),
    Piece(
        "kept",
        (("n", "-", "j"), ("m", "-", "k"), ("n-j", "+", "_")),
        (
            "{A} has {n} {things} and {m} {others}. {He} gives away {j} {things} and {k} {others}. "
            "How many {things} and {others} are left in all?",
        ),
    ),
    Piece(
        "which",
        (("n", "+", "j"),),
        (
            "{A} has {n} {things} and {m} {others}. {C} gives {him} {j} {things}. "
            "How many {things} does {he} have now?",
        ),
    ),
    Piece(
        "rows",
        (("k", "*", "e"), ("N", "-", "_")),
        (
            "A hall has {k} rows of {e} chairs. {N} people come. How many have no chair?",
            "{A} reads {e} pages a day. The book has {N} pages. How many are left after {k} days?",
        ),
    ),
    Piece(
        "sum of parts",
        (("k", "*", "e"), ("j", "*", "2"), ("k*e", "+", "_")),
        (
            "{A} buys {k} {things} at ${e} each and 2 {others} at ${j} each. "
            "How many dollars does {he} pay?",
        ),
    ),
    Piece(
        "difference",
        (("k", "*", "e"), ("n", "-", "_")),
        (
            "{A} has {k} {boxes} of {e} {things}. {B} has {n} {things}. "
            "How many more {things} does {B} have than {A}?",
        ),
    ),
)

ASIDES = (
    "{A} is {x} years old.",
    "{D} has {x} {others}.",
    "{He} also has {x} {others}.",
    "There are {x} {others} on the table.",
    "It takes {x} minutes.",
)
