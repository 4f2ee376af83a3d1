"""One row of a request on its way: steps go in by the engine's thread, news come out on the loop.

A ticket never holds more than the newest state and a bounded number of steps, so that a client who
reads slowly neither stops the engine nor fills the memory.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum

from ..canvas import Row
from ..decoding.loop import Step
from ..generation import Plan, Tally
from ..streaming import Frame, frame
from ..trace import Recording
from .errors import ApiError


class Want(Enum):
    """What a client wants to hear of."""

    END = "end"
    TEXT = "text"
    STEPS = "steps"


@dataclass(frozen=True)
class Job:
    """One row to decode, and how."""

    plan: Plan
    row: Row
    seed: int  # the row's own
    want: Want = Want.END
    trace: bool = False
    client: str = ""


@dataclass(frozen=True)
class Seen:
    """A step as its client sees it; `largest` is the largest S so far of every position."""

    frame: Frame
    largest: list[float] | None


@dataclass(frozen=True)
class News:
    """Where a row stands, and the steps since the last news."""

    tokens: list[int]  # the answer
    tally: Tally
    done: bool = False
    error: ApiError | None = None
    steps: list[Seen] = field(default_factory=list)
    recording: Recording | None = None


class Ticket:
    """A job, and what is known of it."""

    def __init__(self, job: Job, backlog: int, bell: asyncio.Event):
        self.job = job
        self.cancelled = False
        self.tally = Tally(job.row.tokens)
        self._loop, self._bell = asyncio.get_running_loop(), bell
        self._lock, self._rung = threading.Lock(), False
        self._steps: deque[Seen] = deque()
        self._backlog, self._seen = backlog, 0
        self._largest: list[float] | None = None
        self._now = News(job.row.tokens[job.row.start :], self.tally)

    # --- the engine's side -------------------------------------------------------------------

    def begin(self, seconds: float) -> None:
        """Start counting, also when the row has to start again."""
        self.tally = Tally(self.job.row.tokens, begin=seconds)

    def stepped(self, step: Step, place: int) -> None:
        """Take in a step that is already in the tally."""
        if self.job.want is Want.END or self.tally.steps <= self._seen:
            return
        self._seen = self.tally.steps
        start, length = self.job.row.start, len(self.job.row.tokens)
        tokens = step.tokens[place, start:length].tolist()
        found = self._look(step, place) if self.job.want is Want.STEPS else None
        with self._lock:
            self._now = News(tokens, replace(self.tally))
            if found:
                self._keep(found)
        self._ring()

    def finish(self, error: ApiError | None = None, recording: Recording | None = None) -> None:
        """No more steps will come."""
        with self._lock:
            tokens = self._now.tokens if error else self.tally.tokens[self.job.row.start :]
            self._now = News(tokens, self.tally, True, error, recording=recording)
        self._ring()

    def _look(self, step: Step, place: int) -> Seen:
        found = frame(self.job.row, self.tally.steps - 1, step, place)
        now = found.notes.get("instability")
        if now is not None:
            before = self._largest or now
            self._largest = [max(a, b) for a, b in zip(before, now, strict=True)]
        return Seen(found, self._largest)

    def _keep(self, found: Seen) -> None:
        """Keep a step; beyond the backlog it takes the place of the last one, and its writes."""
        if len(self._steps) >= self._backlog:
            last = self._steps.pop().frame
            committed = sorted({*last.committed, *found.frame.committed})
            passes = last.passes + found.frame.passes
            found = replace(found, frame=replace(found.frame, committed=committed, passes=passes))
        self._steps.append(found)

    def _ring(self) -> None:
        """Say that there are news; at most one ring is under way, however slow the loop is."""
        with self._lock:
            if self._rung:
                return
            self._rung = True
        # A closed loop has nobody left to listen.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._bell.set)

    # --- the loop's side ---------------------------------------------------------------------

    def news(self) -> News | None:
        """The newest state, if there is a new one."""
        with self._lock:
            if not self._rung:
                return None
            self._rung = False
            now = replace(self._now, steps=list(self._steps))
            self._steps.clear()
            return now
