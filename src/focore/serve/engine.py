"""One thread that decodes for everybody, one step of everything at a time.

Every tick lets go of the rows whose clients have gone, lets waiting rows join while there is place,
and takes one step of each lane, so that no method waits for another.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Sequence

from .errors import ApiError, busy, failed, stopping
from .lanes import Lane, lane_key, make_lane
from .limits import Limits
from .logs import log
from .metrics import Metrics
from .tickets import Job, Ticket
from .waiting import Waiting


class Engine:
    """Rows of many requests under decoding."""

    def __init__(self, limits: Limits, metrics: Metrics):
        self.limits, self.metrics = limits, metrics
        self._changed = threading.Condition()
        self._waiting = Waiting()
        self._since: dict[Ticket, float] = {}
        self._taken: list[Ticket] = []  # out of the queue, in no lane yet
        self._lanes: list[Lane] = []
        self._open, self._stopped = True, False
        self._typical = 1.0  # seconds of a row, a moving mean
        self._thread = threading.Thread(target=self._run, name="focore-engine", daemon=True)
        metrics.watch("focore_rows_running", "rows under decoding", lambda: self.running)
        metrics.watch("focore_rows_waiting", "rows in the queue", lambda: self.waiting)
        metrics.watch("focore_lanes", "groups of rows side by side", lambda: len(self._lanes))

    @property
    def running(self) -> int:
        return sum(len(lane) for lane in tuple(self._lanes))

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def open(self) -> bool:
        """Whether new requests are taken."""
        return self._open

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def submit(self, jobs: Sequence[Job], bell: asyncio.Event) -> list[Ticket]:
        """Put the rows of a request in line, all or none; the bell rings when there are news."""
        tickets = [Ticket(job, self.limits.backlog, bell) for job in jobs]
        with self._changed:
            if not self._open:
                raise stopping()
            if len(self._waiting) + len(tickets) > self.limits.waiting:
                raise busy(self._patience())
            now = time.perf_counter()
            for ticket in tickets:
                self._waiting.add(ticket)
                self._since[ticket] = now
            self._changed.notify()
        return tickets

    def cancel(self, ticket: Ticket) -> None:
        """Let a row go at the next step; one that is done already is left as it is."""
        with self._changed:
            ticket.cancelled = True
            if self._waiting.remove(ticket):
                del self._since[ticket]
                self.metrics.rows.labels("cancelled").inc()
            self._changed.notify()

    def drain(self, seconds: float) -> None:
        """Take no more requests, wait for those under way, and tell the rest; blocks."""
        with self._changed:
            self._open = False
            self._changed.wait_for(self._idle, timeout=seconds)
        self.stop()

    def stop(self) -> None:
        """End the thread; requests that are not done are told."""
        with self._changed:
            self._open, self._stopped = False, True
            self._changed.notify_all()
        if self.alive:
            self._thread.join()

    # --- the engine's thread -----------------------------------------------------------------

    def _run(self) -> None:
        while self._work():
            try:
                self._tick()
            except Exception as error:  # none is known; the thread must outlive it
                log.error("the engine failed", exc_info=error)
                self._give_up("failed", failed())
        self._give_up("stopped", stopping())

    def _give_up(self, end: str, error: ApiError) -> None:
        """Tell everybody, and hold nothing any more."""
        for ticket in self._everyone():
            self.metrics.rows.labels(end).inc()
            ticket.finish(error)
        self._taken = []
        self._lanes.clear()

    def _work(self) -> bool:
        """Wait until there is something to do; False once it is time to stop."""
        with self._changed:
            if self._idle():
                self._changed.notify_all()
            self._changed.wait_for(lambda: self._stopped or not self._idle())
            return not self._stopped

    def _idle(self) -> bool:
        return not (self._lanes or self._taken or self._waiting)

    def _everyone(self) -> list[Ticket]:
        with self._changed:
            queued = [self._waiting.take() for _ in range(len(self._waiting))]
            self._since.clear()
        running = [ticket for lane in self._lanes for ticket in lane.tickets.values()]
        return list(dict.fromkeys([*queued, *self._taken, *running]))

    def _tick(self) -> None:
        for lane in self._lanes:
            self.metrics.rows.labels("cancelled").inc(lane.drop_cancelled())
        self._admit()
        for lane in tuple(self._lanes):
            if len(lane):
                self._step(lane)
        self._lanes = [lane for lane in self._lanes if len(lane)]

    def _admit(self) -> None:
        """Let waiting rows join, all those of a lane together."""
        joining: dict[Lane, list[Ticket]] = {}
        for ticket in self._next(self.limits.rows - self.running):
            joining.setdefault(self._lane(ticket.job), []).append(ticket)
        for lane, tickets in joining.items():
            try:
                lane.admit(tickets)
            except Exception as error:
                self._fail(lane, error, [*lane.tickets.values(), *tickets])
        self._taken = []

    def _next(self, free: int) -> list[Ticket]:
        now = time.perf_counter()
        with self._changed:
            self._taken = [self._waiting.take() for _ in range(min(free, len(self._waiting)))]
            for ticket in self._taken:
                self.metrics.waited.observe(now - self._since.pop(ticket))
        return self._taken

    def _lane(self, job: Job) -> Lane:
        """The lane of a job; a traced one has its own."""
        key = lane_key(job)
        found = None if job.trace else next((x for x in self._lanes if x.key == key), None)
        if found is None:
            found = make_lane(job, key)
            self._lanes.append(found)
        return found

    def _step(self, lane: Lane) -> None:
        rows, begin = len(lane), time.perf_counter()
        self.metrics.late.inc(sum(ticket.cancelled for ticket in lane.tickets.values()))
        try:
            finished = lane.step()
        except Exception as error:
            self._fail(lane, error, list(lane.tickets.values()))
            return
        self.metrics.step_seconds.observe(time.perf_counter() - begin)
        self.metrics.step_rows.observe(rows)
        for ticket in finished:
            self.metrics.rows.labels("done").inc()
            self.metrics.passes.inc(ticket.tally.passes)
            self._typical += 0.1 * (ticket.tally.seconds - self._typical)

    def _fail(self, lane: Lane, error: Exception, tickets: list[Ticket]) -> None:
        """Rows that failed side by side start again, each alone; one that fails alone is told."""
        self._lanes.remove(lane)
        if len(tickets) == 1:
            log.error("decoding failed", exc_info=error)
            self.metrics.rows.labels("failed").inc()
            tickets[0].finish(failed())
            return
        log.warning("a step of %d rows failed; each starts again alone", len(tickets))
        for ticket in tickets:
            alone = make_lane(ticket.job)
            self._lanes.append(alone)
            try:
                alone.admit([ticket])
            except Exception as failure:
                self._fail(alone, failure, [ticket])

    def _patience(self) -> int:
        """Seconds after which there may be place."""
        turns = len(self._waiting) / self.limits.rows
        return min(60, max(1, math.ceil(turns * self._typical)))
