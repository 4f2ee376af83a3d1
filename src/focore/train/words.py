"""Word problems of one to four steps, composed from pieces of stories."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

from .owning import OWNING
from .pieces import BOXES, COLOURS, GOODS, HERS, HIS, RANGES, RIDES, THINGS, Piece
from .problem import Equation, Problem, apply, worked
from .spending import MONEY, TRAVEL
from .stories import ASIDES, STORIES

VALUE_LIMIT = 400
STEP_LIMIT = 4
ASIDE_SHARE = 0.25
DRAWS = 12  # of the numbers of one piece, before the story is given up

Cast = dict[str, str]


@dataclass
class Tale:
    """A story as it is being told."""

    rng: random.Random
    cast: Cast
    value: int = 0
    sentences: list[str] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    def tell(self, piece: Piece) -> bool:
        """Add a piece; False if no numbers fit."""
        for _ in range(DRAWS):
            wording = self.rng.choice(piece.wordings)
            drawn = self._draw(piece, wording)
            equations = _solved(piece, drawn | {"v": self.value})
            if equations is not None:
                break
        else:
            return False
        self.value = equations[-1][3] if equations else drawn.get(piece.value, self.value)
        self.equations += equations
        self.kinds.append(piece.kind)
        self.numbers += drawn.values()
        self.sentences.append(wording.format_map(self.cast | drawn))
        return True

    def aside(self) -> None:
        """Slip in a sentence that has nothing to do with the question, not at the start."""
        number = self.rng.randint(2, 99)
        text = self.rng.choice(ASIDES).format_map(self.cast | {"x": number})
        self.sentences.insert(self.rng.randint(1, len(self.sentences) - 1), text)

    def _draw(self, piece: Piece, wording: str) -> dict[str, int]:
        """Numbers for the slots of a piece, in the order of its steps, then of its wording."""
        slots = re.findall(r"[a-zA-Z]+", " ".join(a + " " + b for a, _, b in piece.steps))
        slots += re.findall(r"\{(\w)\}", wording)
        return {s: self.rng.randint(*RANGES[s]) for s in dict.fromkeys(slots) if s in RANGES}


def _solved(piece: Piece, known: dict[str, int]) -> list[Equation] | None:
    """The equations of a piece, or None if a result is no number of one to three digits."""
    equations: list[Equation] = []
    for left, operator, right in piece.steps:
        a, b = (known[s] if s in known else int(s) for s in (left, right))
        result = apply(a, operator, b)
        if result is None or not 1 <= result <= VALUE_LIMIT:
            return None
        known |= {"_": result, left + operator + right: result}
        equations.append((a, operator, b, result))
    return equations


def sample(rng: random.Random) -> Problem:
    """A random word problem."""
    while True:
        tale = Tale(rng, _cast(rng))
        told = _story(tale) if rng.random() < 0.25 else _theme(tale, rng)
        if told and 1 <= len(tale.equations) <= STEP_LIMIT:
            break
    key = f"words {'/'.join(tale.kinds)} {','.join(map(str, tale.numbers))}"
    answer = f"{worked(tale.equations)}\nThe answer is {tale.value}"
    return Problem("words", " ".join(tale.sentences), answer, key)


def _story(tale: Tale) -> bool:
    return tale.tell(tale.rng.choice(STORIES))


def _theme(tale: Tale, rng: random.Random) -> bool:
    """A start, up to two events and a question; one step alone is rare."""
    theme = rng.choices((OWNING, MONEY, TRAVEL), (5, 3, 2))[0]
    events = [rng.choice(theme.events) for _ in range(rng.choice((0, 1, 1, 1, 2, 2)))]
    pieces = [rng.choice(theme.starts), *events, rng.choice(theme.ends)]
    steps = sum(len(piece.steps) for piece in pieces)
    if (steps == 1 and rng.random() < 0.7) or not 1 <= steps <= STEP_LIMIT:
        return False
    if not all(tale.tell(piece) for piece in pieces):
        return False
    if rng.random() < ASIDE_SHARE:
        tale.aside()
    return True


def _cast(rng: random.Random) -> Cast:
    """Who and what the story is about."""
    names = [*rng.sample(HERS, 2), *rng.sample(HIS, 2)]
    rng.shuffle(names)
    pronouns = ("she", "her", "her") if names[0] in HERS else ("he", "him", "his")
    things, others = rng.sample(THINGS, 2)
    box = rng.choice(tuple(BOXES))
    red, blue = rng.sample(COLOURS, 2)
    good, good2 = rng.sample(GOODS, 2)
    cast = dict(zip("ABCD", names, strict=True))
    cast |= dict(zip(("he", "him", "his"), pronouns, strict=True), He=pronouns[0].capitalize())
    cast |= {"things": things, "others": others, "box": box, "boxes": BOXES[box]}
    cast |= {"red": red, "blue": blue, "good": good, "good2": good2}
    return cast | {"ride": rng.choice(RIDES)}
