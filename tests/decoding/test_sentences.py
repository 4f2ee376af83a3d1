"""The linguistic rule on whole sentences, word by word, as it sees tokens: each one alone."""

from __future__ import annotations

import re

import pytest

from focore.decoding.words import dense

pytest.importorskip("spacy")

# Nouns, names and numbers, and what is part of the name of a person, a place, a time or a sum.
SENTENCES = {
    "Sarah will be 20 years old in 4 years": "Sarah 20 years 4 years",
    "How many eggs are left on the table?": "eggs table",
    "Bob sold 15 books on Monday and 9 on Friday.": "Bob 15 books Monday 9 Friday",
    "A baker made 48 cakes and sold half of them.": "baker 48 cakes half",
    "The capital of France is Paris.": "capital France Paris",
    "Is it true that they were happy?": "",
    "John gave his sister $5 for the bus.": "John sister 5 bus",
    "It rained heavily in July, but not in June.": "July June",
    "There are seven days in a week.": "seven days week",
    "We must never forget what happened here.": "",
    "Microsoft was founded by Bill Gates in 1975.": "Microsoft Bill Gates 1975",
    "Each box holds 12 pencils, so 5 boxes hold 60.": "box 12 pencils 5 boxes 60",
    "The water in the lake was deep and clear.": "water lake",
    "Tom is taller than Jim but shorter than Kate.": "Tom Jim Kate",
    "They would rather stay at home than go out.": "home",
    "My mother cooked rice with beans yesterday.": "mother rice beans yesterday",
    "Why did you come so early?": "",
}

# A word alone may be a noun that is a verb in its sentence, and the pipeline may take a word alone
# for another part of speech than a reader would. The rule looks at tokens alone, so this is what it
# says; beside it, what a reader of the whole sentence would change.
ALONE = {
    "Ann has 4 apples and buys 3 more.": "Ann 4 apples buys 3",  # buys
    "The train from London to Paris takes two hours.": "London Paris two hours",  # train
    "He walks to the school and back every day.": "walks school day",  # walks
    "She drinks three cups of tea because it is cold.": "drinks three cups tea",  # drinks
    "The quick brown fox jumps over the lazy dog.": "brown fox jumps dog",  # brown, jumps
    "If the shirt costs 18 dollars, how much do 4 shirts cost?":
        "shirt costs 18 dollars 4 shirts cost",  # costs, cost
    "The answer is 42.": "42",  # answer
}  # fmt: skip


def high(sentence: str) -> list[str]:
    """The HD words of a sentence, in its order."""
    return [word for word in re.findall(r"\w+|[^\w\s]", sentence) if dense(word)]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_words_that_matter(sentence: str) -> None:
    assert high(sentence) == SENTENCES[sentence].split()


@pytest.mark.parametrize("sentence", ALONE)
def test_words_are_judged_alone(sentence: str) -> None:
    assert high(sentence) == ALONE[sentence].split()
