"""One thread that decodes, one step of everything at a time.

Every tick lets go of the rows whose clients have gone, lets waiting rows join while there is place,
and takes one step of each lane, so that no method waits for another.
"""

from __future__ import annotations

import threading
import time
from typing import Protocol

import torch

from .errors import ApiError, failed, stopping
from .lanes import Lane, lane_key, make_lane
from .logs import log
from .metrics import Metrics
from .tickets import Job, Ticket


class Source(Protocol):
    """Where rows come from."""

    def wait(self, decoder: Decoder) -> bool:
        """Wait until there is something to do; False once it is time to stop."""
        ...

    def hand(self, decoder: Decoder) -> None:
        """Put the rows that join into the decoder's `taken`."""
        ...

    def took(self, seconds: float) -> None:
        """A row was done after so long."""
        ...


class Decoder:
    """Rows of many requests under decoding by one thread."""

    def __init__(self, source: Source, metrics: Metrics, share: int):
        self._source, self._metrics, self._share = source, metrics, share
        self.taken: list[Ticket] = []  # out of the queue, in no lane yet
        self.lanes: list[Lane] = []
        self._thread = threading.Thread(target=self._run, name="focore-decoder", daemon=True)

    def __len__(self) -> int:
        return len(self.taken) + sum(len(lane) for lane in tuple(self.lanes))

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        if self.alive:
            self._thread.join()

    def idle(self) -> bool:
        return not (self.lanes or self.taken)

    def everyone(self) -> list[Ticket]:
        """All rows in hand."""
        running = [ticket for lane in self.lanes for ticket in lane.tickets.values()]
        return list(dict.fromkeys([*self.taken, *running]))

    def _run(self) -> None:
        if self._share > 1:  # of the cores, which other decoders use too
            torch.set_num_threads(max(1, torch.get_num_threads() // self._share))
        while self._source.wait(self):
            try:
                self._tick()
            except Exception as error:  # none is known; the thread must outlive it
                log.error("the engine failed", exc_info=error)
                self._give_up("failed", failed())
        self._give_up("stopped", stopping())

    def _give_up(self, end: str, error: ApiError) -> None:
        """Tell everybody, and hold nothing any more."""
        for ticket in self.everyone():
            self._metrics.rows.labels(end).inc()
            ticket.finish(error)
        self.taken = []
        self.lanes.clear()

    def _tick(self) -> None:
        for lane in self.lanes:
            self._metrics.rows.labels("cancelled").inc(lane.drop_cancelled())
        self._source.hand(self)
        self._admit()
        for lane in tuple(self.lanes):
            if len(lane):
                self._step(lane)
        self.lanes = [lane for lane in self.lanes if len(lane)]

    def _admit(self) -> None:
        """Let the rows in hand join, all those of a lane together."""
        joining: dict[Lane, list[Ticket]] = {}
        for ticket in self.taken:
            joining.setdefault(self._lane(ticket.job), []).append(ticket)
        for lane, tickets in joining.items():
            try:
                lane.admit(tickets)
            except Exception as error:
                self._fail(lane, error, [*lane.tickets.values(), *tickets])
        self.taken = []

    def _lane(self, job: Job) -> Lane:
        """The lane of a job; a traced one has its own."""
        key = lane_key(job)
        found = None if job.trace else next((x for x in self.lanes if x.key == key), None)
        if found is None:
            found = make_lane(job, key)
            self.lanes.append(found)
        return found

    def _step(self, lane: Lane) -> None:
        rows, begin = len(lane), time.perf_counter()
        self._metrics.late.inc(sum(ticket.cancelled for ticket in lane.tickets.values()))
        try:
            finished = lane.step()
        except Exception as error:
            self._fail(lane, error, list(lane.tickets.values()))
            return
        self._metrics.step_seconds.observe(time.perf_counter() - begin)
        self._metrics.step_rows.observe(rows)
        for ticket in finished:
            self._metrics.rows.labels("done").inc()
            self._metrics.passes.inc(ticket.tally.passes)
            self._source.took(ticket.tally.seconds)

    def _fail(self, lane: Lane, error: Exception, tickets: list[Ticket]) -> None:
        """Rows that failed side by side start again, each alone; one that fails alone is told."""
        self.lanes.remove(lane)
        if len(tickets) == 1:
            log.error("decoding failed", exc_info=error)
            self._metrics.rows.labels("failed").inc()
            tickets[0].finish(failed())
            return
        log.warning("a step of %d rows failed; each starts again alone", len(tickets))
        for ticket in tickets:
            alone = make_lane(ticket.job)
            self.lanes.append(alone)
            try:
                alone.admit([ticket])
            except Exception as failure:
                self._fail(alone, failure, [ticket])
