"""The pages of answers that were asked to be traced, the last few of them."""

from __future__ import annotations

import secrets
from collections import OrderedDict

from ..trace import Recording, page


class Traces:
    """Pages by id, in memory only; ids cannot be guessed."""

    def __init__(self, count: int, size: int):
        self._count, self._size = count, size
        self._pages: OrderedDict[str, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._pages)

    def keep(self, html: str) -> str:
        """Keep a page in place of the oldest ones; its id."""
        name = secrets.token_urlsafe(16)
        self._pages[name] = html.encode()
        while len(self._pages) > self._count or self._bytes > self._size:
            self._pages.popitem(last=False)
        return name

    @property
    def _bytes(self) -> int:
        return sum(map(len, self._pages.values()))

    def find(self, name: str) -> bytes | None:
        return self._pages.get(name)


def draw(recording: Recording) -> str:
    """The page of a recorded answer."""
    return page(recording.traces())
