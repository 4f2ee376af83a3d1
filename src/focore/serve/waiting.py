"""Requests in line, served in turn."""

from __future__ import annotations

from collections import OrderedDict, deque

from .tickets import Ticket


class Waiting:
    """A queue in which clients take turns: many requests of one do not delay another's first."""

    def __init__(self) -> None:
        self._clients: OrderedDict[str, deque[Ticket]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, ticket: Ticket) -> None:
        self._clients.setdefault(ticket.job.client, deque()).append(ticket)
        self._count += 1

    def take(self) -> Ticket:
        """The oldest ticket of the client whose turn it is; the client goes to the end."""
        client, line = self._clients.popitem(last=False)
        ticket = line.popleft()
        if line:
            self._clients[client] = line
        self._count -= 1
        return ticket

    def remove(self, ticket: Ticket) -> bool:
        """Whether the ticket was waiting, and no longer is."""
        line = self._clients.get(ticket.job.client)
        if line is None or ticket not in line:
            return False
        line.remove(ticket)
        if not line:
            del self._clients[ticket.job.client]
        self._count -= 1
        return True
