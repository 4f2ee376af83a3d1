"""Rows that step side by side: those of one method with the same options."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Sequence
from itertools import count

from ..canvas import Row
from ..decoding.loop import Step
from ..generation import Plan, Runner, record
from ..trace import Recording
from .tickets import Job, Ticket, Want

OF_A_ROW = frozenset({"gen_length", "block_length", "steps", "prefix", "fixed"})


def lane_key(job: Job) -> Hashable:
    """Jobs with the same key may step side by side; what belongs to a row does not matter."""
    options = {k: v for k, v in job.plan.options.items() if k not in OF_A_ROW}
    return job.plan.method.name, repr(sorted(options.items())), job.want is Want.STEPS


class Lane:
    """The rows of one key."""

    def __init__(self, key: Hashable, plan: Plan, watch: bool):
        self.key = key
        self.tickets: dict[int, Ticket] = {}
        self._names = count()
        self._runner = Runner(plan.watched() if watch else plan)

    def __len__(self) -> int:
        return len(self.tickets)

    def admit(self, tickets: Sequence[Ticket]) -> None:
        """Let rows join; one that has nothing to decide is done at once."""
        for ticket in tickets:
            ticket.begin(time.perf_counter())
        open_ = [t for t in tickets if t.job.row.mask_id in t.job.row.tokens]
        for ticket in tickets:
            if ticket not in open_:
                ticket.finish()
        if open_:
            named = {next(self._names): ticket for ticket in open_}
            rows, seeds = [t.job.row for t in open_], [t.job.seed for t in open_]
            self._join(rows, seeds, list(named))
            self.tickets |= named

    def drop_cancelled(self) -> int:
        """Let go of the rows whose clients have gone; how many there were."""
        gone = [name for name, ticket in self.tickets.items() if ticket.cancelled]
        if gone:
            self._leave(gone)
            for name in gone:
                del self.tickets[name]
        return len(gone)

    def step(self) -> list[Ticket]:
        """Take one step; the tickets that it finished."""
        step = self._take()
        record(step, {name: ticket.tally for name, ticket in self.tickets.items()})
        finished, done = [], step.done.tolist()
        for place, name in enumerate(step.row.tolist()):
            ticket = self.tickets[name]
            ticket.stepped(step, place)
            if done[place]:
                finished.append(self.tickets.pop(name))
                self._finish(ticket)
        return finished

    def _join(self, rows: Sequence[Row], seeds: Sequence[int], names: Sequence[int]) -> None:
        self._runner.admit(rows, seeds, names)

    def _leave(self, names: Sequence[int]) -> None:
        self._runner.batch.drop(names)

    def _take(self) -> Step:
        return self._runner.batch.step()

    def _finish(self, ticket: Ticket) -> None:
        ticket.finish()


class Recorded(Lane):
    """One row whose steps are all kept, for its trace."""

    def __init__(self, plan: Plan):
        super().__init__(None, plan, watch=True)
        self._plan = plan
        self._recording: Recording | None = None
        self._steps: Iterator[Step] = iter(())

    def _join(self, rows: Sequence[Row], seeds: Sequence[int], names: Sequence[int]) -> None:
        self._recording = Recording(self._plan, rows, seeds)
        self._steps = iter(self._recording)

    def _leave(self, names: Sequence[int]) -> None:
        self._recording, self._steps = None, iter(())

    def _take(self) -> Step:
        return next(self._steps)

    def _finish(self, ticket: Ticket) -> None:
        ticket.finish(recording=self._recording)


def make_lane(job: Job, key: Hashable = None) -> Lane:
    """A lane for a job; without a key it is for that job alone, and so is one that is recorded."""
    return Recorded(job.plan) if job.trace else Lane(key, job.plan, job.want is Want.STEPS)
