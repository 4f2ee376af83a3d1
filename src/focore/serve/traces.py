"""The pages of answers that were asked to be traced, the last few of them."""

from __future__ import annotations

import secrets
from collections import OrderedDict

from ..trace import Recording, page


class Traces:
    """Pages by id, in memory only; ids cannot be guessed."""

    def __init__(self, size: int):
        self._size = size
        self._pages: OrderedDict[str, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._pages)

    def keep(self, html: str) -> str:
        """Keep a page; its id."""
        name = secrets.token_urlsafe(16)
        self._pages[name] = html
        while len(self._pages) > self._size:
            self._pages.popitem(last=False)
        return name

    def find(self, name: str) -> str | None:
        return self._pages.get(name)


def draw(recording: Recording) -> str:
    """The page of a recorded answer."""
    return page(recording.traces())
