"""SOAR, the paper's "Hybrid": a beam over positions, searched where unsure (arXiv 2602.10953).

Each beam looks at the masks of its block. If some are surer than the threshold it accelerates: one
child commits up to `max_parallel` of them. Otherwise it searches: the first child commits the
surest position, the second the next one, and so on. A child's score is the sum of the probabilities
committed so far. The best distinct children survive, only one of them after an acceleration that
leaves it fewer masks than the best beam had.

That "Hybrid" in the paper means this is an inference. The LLaDA code's rule is used on both
backbones: the Dream code averages scores, and its release cannot run. Where the budget asks for
more than one position a step, every child commits that many, and children differ in the last one.
A beam counts as a pass of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..canvas import Canvas, ranks
from ..rows import take
from .guidance import Denoise, Guided
from .noise import Noise
from .options import Piece, option
from .policy import Decision
from .sampler import Proposal, Sampler
from .schedules import Schedule


@dataclass(frozen=True)
class Soar(Piece):
    """Search or accelerate."""

    sampler: Sampler
    schedule: Schedule
    beam_width: int = option(2, "beams kept", low=1)
    threshold: float = option(0.95, "a position surer than this is not searched", low=0, high=1)
    max_parallel: int = option(5, "positions that an acceleration commits", low=1)

    def start(self) -> RunningSoar:
        return RunningSoar(self)


@dataclass
class Beams:
    """The beams of all rows, those of a row together and best first."""

    canvas: Canvas  # one row per beam
    owner: Tensor  # (beams,) the row that a beam belongs to
    score: Tensor  # (beams,)

    def pick(self, beams: Tensor) -> Beams:
        """The beams named, in that order."""
        return Beams(take(self.canvas, beams), self.owner[beams], self.score[beams])

    def take(self, rows: Tensor) -> Beams:
        """The beams of the rows named, which are in ascending order."""
        kept = self.pick(torch.isin(self.owner, rows).nonzero()[:, 0])
        return replace(kept, owner=torch.searchsorted(rows, kept.owner))

    def join(self, others: Sequence[Beams | None], sizes: Sequence[int]) -> Beams:
        """These beams; rows that join later have none yet."""
        return self


@dataclass
class RunningSoar:
    rule: Soar
    beams: Beams | None = None

    def __call__(self, canvas: Canvas, denoise: Denoise, noise: Noise) -> Decision:
        rows = torch.arange(canvas.rows, device=canvas.tokens.device)
        before = self._begun(canvas, rows[canvas.step == 0])
        unfinished = before.canvas.masked.any(dim=1)
        live, done = (before.pick(which.nonzero()[:, 0]) for which in (unfinished, ~unfinished))
        guided = Guided(denoise(live.canvas.tokens, "given", live.owner))
        proposal = self.rule.sampler.propose(guided, live.canvas.open, noise.take(live.owner))
        parent, where, fast = self._children(live.canvas, proposal)
        pool = _both(done, _grown(live, proposal, parent, where))
        hasty = set(live.owner[parent[fast]].tolist())
        self.beams = self._survivors(before, pool, hasty)
        # A row shows its best beam that is not finished, and the best of all once every one is.
        unfinished = self.beams.canvas.masked.any(dim=1)
        places = torch.arange(len(unfinished), device=rows.device)
        mine = self.beams.owner == rows[:, None]
        shown = torch.where(mine, places + len(places) * ~unfinished, 2 * len(places) + 1)
        tokens = self.beams.canvas.tokens[shown.argmin(dim=1)]
        best = (live.owner == rows[:, None]).long().argmax(dim=1)
        return Decision(tokens, tokens != canvas.tokens, proposal.probability[best], {})

    def _begun(self, canvas: Canvas, fresh: Tensor) -> Beams:
        """The beams so far, and one for each row that takes its first step."""
        new = Beams(take(canvas, fresh), fresh, torch.zeros(len(fresh), device=fresh.device))
        return new if self.beams is None else _both(self.beams, new)

    def _children(self, live: Canvas, proposal: Proposal) -> tuple[Tensor, Tensor, Tensor]:
        """The parent (n,) of each child, what it commits (n, length), whether it accelerates."""
        rank = ranks(proposal.score, live.open)
        quota = self.rule.schedule(live).clamp(min=1)
        sure = (live.open & (proposal.probability > self.rule.threshold)).sum(dim=1)
        count = torch.maximum(sure.clamp(max=self.rule.max_parallel), quota)
        fast, left = sure > 0, live.open.sum(dim=1)
        ways = [(rank < count[:, None]) & fast[:, None]]
        for other in range(self.rule.beam_width):
            last = quota - 1 + other
            way = (rank < quota[:, None] - 1) | (rank == last[:, None])
            ways.append(way & (~fast & (left > last))[:, None])
        where = torch.stack(ways, dim=1) & live.open[:, None]
        parent, way_index = where.any(dim=2).nonzero(as_tuple=True)
        return parent, where[parent, way_index], way_index == 0

    def _survivors(self, before: Beams, pool: Beams, hasty: set[int]) -> Beams:
        """The best distinct beams of each row."""
        chosen: list[int] = []
        masks, masks_before = pool.canvas.masked.sum(dim=1), before.canvas.masked.sum(dim=1)
        for row in dict.fromkeys(before.owner.tolist()):
            mine = (pool.owner == row).nonzero()[:, 0]
            order = mine[pool.score[mine].sort(descending=True, stable=True).indices].tolist()
            distinct = {tuple(pool.canvas.tokens[i].tolist()): i for i in reversed(order)}
            order = [i for i in order if i in distinct.values()]
            best_before = (before.owner == row).long().argmax()
            fewer = bool(masks[order[0]] < masks_before[best_before])
            chosen += order[: 1 if row in hasty and fewer else self.rule.beam_width]
        return pool.pick(torch.tensor(chosen, device=pool.owner.device))


def _grown(live: Beams, proposal: Proposal, parent: Tensor, where: Tensor) -> Beams:
    """The children of beams, with what they commit written."""
    children = live.pick(parent)
    tokens = torch.where(where, proposal.token[parent], children.canvas.tokens)
    gain = (proposal.probability[parent] * where).sum(dim=1)
    return replace(children, canvas=children.canvas.write(tokens), score=children.score + gain)


def _both(some: Beams, more: Beams) -> Beams:
    """All the beams of two."""
    canvas = some.canvas.join([some.canvas, more.canvas], [len(some.owner), len(more.owner)])
    return Beams(canvas, torch.cat((some.owner, more.owner)), torch.cat((some.score, more.score)))
