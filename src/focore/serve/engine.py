"""The queue, and the threads that decode for everybody."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Sequence

from .decoder import Decoder
from .errors import busy, stopping
from .limits import Limits
from .metrics import Metrics
from .tickets import Job, Ticket
from .waiting import Waiting


class Engine:
    """Rows of many requests, in line and under decoding."""

    def __init__(self, limits: Limits, metrics: Metrics):
        self.limits, self.metrics = limits, metrics
        self._changed = threading.Condition()
        self._waiting = Waiting()
        self._since: dict[Ticket, float] = {}
        self._open, self._stopped = True, False
        self._typical = 1.0  # seconds of a row, a moving mean
        count = limits.decoders
        self.decoders = [Decoder(self, metrics, count) for _ in range(count)]
        metrics.watch("focore_rows_running", "rows under decoding", lambda: self.running)
        metrics.watch("focore_rows_waiting", "rows in the queue", lambda: self.waiting)
        metrics.watch("focore_lanes", "groups of rows side by side", lambda: self.lanes)

    @property
    def running(self) -> int:
        return sum(len(decoder) for decoder in self.decoders)

    @property
    def lanes(self) -> int:
        return sum(len(decoder.lanes) for decoder in self.decoders)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def open(self) -> bool:
        """Whether new requests are taken."""
        return self._open

    @property
    def alive(self) -> bool:
        return all(decoder.alive for decoder in self.decoders)

    def start(self) -> None:
        for decoder in self.decoders:
            decoder.start()

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
            self._changed.notify_all()
        return tickets

    def cancel(self, ticket: Ticket) -> None:
        """Let a row go at the next step; one that is done already is left as it is."""
        with self._changed:
            ticket.cancelled = True
            if self._waiting.remove(ticket):
                del self._since[ticket]
                self.metrics.rows.labels("cancelled").inc()
            self._changed.notify_all()

    def drain(self, seconds: float) -> None:
        """Take no more requests, wait for those under way, and tell the rest; blocks."""
        with self._changed:
            self._open = False
            self._changed.wait_for(self.idle, timeout=seconds)
        self.stop()

    def stop(self) -> None:
        """End the threads; requests that are not done are told."""
        with self._changed:
            self._open, self._stopped = False, True
            self._changed.notify_all()
        for decoder in self.decoders:
            decoder.join()
        with self._changed:
            for ticket in self._next(len(self._waiting)):
                self.metrics.rows.labels("stopped").inc()
                ticket.finish(stopping())

    def idle(self) -> bool:
        """Whether nobody waits and nothing is under way."""
        return not self._waiting and all(decoder.idle() for decoder in self.decoders)

    # --- for the decoders --------------------------------------------------------------------

    def wait(self, decoder: Decoder) -> bool:
        """Wait until there is something to do; False once it is time to stop."""
        with self._changed:
            self._changed.notify_all()  # rows may have ended: for `drain`, and for other decoders
            self._changed.wait_for(
                lambda: self._stopped or not decoder.idle() or self._free(decoder) > 0
            )
            return not self._stopped

    def hand(self, decoder: Decoder) -> None:
        """Let a decoder take what it has place for."""
        with self._changed:
            decoder.taken = self._next(self._free(decoder))

    def _free(self, decoder: Decoder) -> int:
        """Waiting rows that a decoder may take: up to an equal share of all there are."""
        waiting, running, count = len(self._waiting), self.running, len(self.decoders)
        share = -(-min(self.limits.rows, running + waiting) // count)
        return max(0, min(share - len(decoder), self.limits.rows - running, waiting))

    def took(self, seconds: float) -> None:
        """A row was done after so long."""
        self._typical += 0.1 * (seconds - self._typical)

    def _next(self, count: int) -> list[Ticket]:
        """The rows whose turn it is, out of the queue."""
        now, found = time.perf_counter(), [self._waiting.take() for _ in range(count)]
        for ticket in found:
            self.metrics.waited.observe(now - self._since.pop(ticket))
        return found

    def _patience(self) -> int:
        """Seconds after which there may be place."""
        turns = len(self._waiting) / self.limits.rows
        return min(60, max(1, math.ceil(turns * self._typical)))
