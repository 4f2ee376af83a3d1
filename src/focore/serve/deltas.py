"""The text of an answer as it becomes final, from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..loading import Model

BROKEN = "\ufffd"  # what a tokenizer says of bytes that are no character, or not yet


@dataclass
class Growing:
    """An answer under way: everything before the first mask is final."""

    model: Model
    stops: Sequence[str] = ()
    text: str = ""  # final so far
    tokens: int = 0  # of the text
    reason: str | None = None  # why it ended: "stop" or "length"
    _ids: list[int] = field(default_factory=list)

    def feed(self, answer: Sequence[int], done: bool) -> str:
        """Take in the answer's tokens; the text that has become final since the last time."""
        ids, ended = self._final(answer)
        if self.reason or (ids == self._ids and not done):
            return ""
        self._ids = ids
        text, stopped = self._settled(self._decode(ids), whole=ended or done)
        if stopped or done:
            self.reason = "stop" if stopped or ended else "length"
        self.tokens = self._count(ids) if stopped else len(ids)
        new, self.text = text[len(self.text) :], text
        return new

    def _final(self, answer: Sequence[int]) -> tuple[list[int], bool]:
        """The tokens before the first mask and the first end token, and whether that came."""
        for place, token in enumerate(answer):
            if token == self.model.mask_id:
                return list(answer[:place]), False
            if token in self.model.end_ids:
                return list(answer[:place]), True
        return list(answer), False

    def _decode(self, ids: list[int]) -> str:
        return self.model.text.decode(ids) if self.model.text else ""

    def _settled(self, text: str, whole: bool) -> tuple[str, bool]:
        """The part of a text that nothing after it can change, and whether a stop string ends it.

        A character whose bytes have not all come, and what may be the beginning of a stop string,
        are held back.
        """
        cut = min((text.index(stop) for stop in self.stops if stop in text), default=None)
        held = len(text) if whole else self._held(text)
        if cut is not None and cut <= held:
            return text[:cut], True
        return text[:held], False

    def _held(self, text: str) -> int:
        """Where the part of a text begins that may still change."""
        if self._respaced:
            return len(self.text)
        text = text.rstrip(BROKEN)
        longest = max(map(len, self.stops), default=1)
        for place in range(max(0, len(text) - longest + 1), len(text)):
            if any(stop.startswith(text[place:]) for stop in self.stops):
                return place
        return len(text)

    @property
    def _respaced(self) -> bool:
        """Whether the tokenizer takes a space away again once it has seen the next token."""
        tokenizer = self.model.text.tokenizer if self.model.text else None
        return bool(getattr(tokenizer, "clean_up_tokenization_spaces", False))

    def _count(self, ids: list[int]) -> int:
        """The tokens that it took to write a stop string."""
        lengths = range(1, len(ids) + 1)
        said = (n for n in lengths if any(s in self._decode(ids[:n]) for s in self.stops))
        return next(said, len(ids))
