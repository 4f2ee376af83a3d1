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

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ..canvas import Canvas, highest
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

    def take(self, rows: Tensor) -> Beams:
        kept = torch.cat([(self.owner == row).nonzero()[:, 0] for row in rows])
        owner = (self.owner[kept][:, None] == rows).long().argmax(dim=1)
        return Beams(take(self.canvas, kept), owner, self.score[kept])


@dataclass
class Children:
    """One way on for each beam that has it."""

    parent: Tensor  # (n,) index of the beam
    where: Tensor  # (n, length) bool
    accelerated: bool


@dataclass
class RunningSoar:
    rule: Soar
    beams: Beams | None = None

    def __call__(self, canvas: Canvas, denoise: Denoise, noise: Noise) -> Decision:
        if self.beams is None:
            rows = torch.arange(canvas.rows, device=canvas.tokens.device)
            self.beams = Beams(canvas, rows, torch.zeros(canvas.rows, device=rows.device))
        before = self.beams
        going = before.canvas.masked.any(dim=1).nonzero()[:, 0]
        live = take(before.canvas, going)
        guided = Guided(denoise(live.tokens, "given", before.owner[going]))
        drawn = noise.take(before.owner[going])
        proposal = self.rule.sampler.propose(guided, live.open, drawn)
        families = self._children(live, proposal)
        self.beams = self._survivors(before, going, live, proposal, families)
        return self._decision(canvas, going, proposal, before.owner)

    def _children(self, live: Canvas, proposal: Proposal) -> list[Children]:
        """The children of the beams that are not finished, as masks over positions."""
        quota = self.rule.schedule(live).clamp(min=1)
        sure = (live.open & (proposal.probability > self.rule.threshold)).sum(dim=1)
        fast = sure > 0
        count = torch.maximum(sure.clamp(max=self.rule.max_parallel), quota)
        some = fast.nonzero()[:, 0]
        families = [Children(some, highest(proposal.score, count, live.open)[some], True)]
        left = live.open.sum(dim=1)
        for rank in range(self.rule.beam_width):
            base = highest(proposal.score, quota - 1, live.open)
            upto = highest(proposal.score, quota + rank, live.open)
            one = upto & ~highest(proposal.score, quota + rank - 1, live.open)
            some = (~fast & (left >= quota + rank)).nonzero()[:, 0]
            families.append(Children(some, (base | one)[some], False))
        return families

    def _survivors(
        self,
        before: Beams,
        going: Tensor,
        live: Canvas,
        proposal: Proposal,
        families: list[Children],
    ) -> Beams:
        """The best distinct children of each row."""
        done = ~before.canvas.masked.any(dim=1)
        kept = done.nonzero()[:, 0]
        canvases, owners, scores = (
            [take(before.canvas, kept)],
            [before.owner[kept]],
            [before.score[kept]],
        )
        for family in families:
            parent = take(live, family.parent)
            tokens = torch.where(family.where, proposal.token[family.parent], parent.tokens)
            gain = (proposal.probability[family.parent] * family.where).sum(dim=1)
            canvases.append(parent.write(tokens))
            owners.append(before.owner[going[family.parent]])
            scores.append(before.score[going[family.parent]] + gain)
        accelerated = set(owners[1].tolist())
        pool = Beams(_stack(canvases), torch.cat(owners), torch.cat(scores))
        chosen: list[int] = []
        for row in dict.fromkeys(before.owner.tolist()):
            ranked = self._ranked(pool, row)
            best_before = int((before.owner == row).nonzero()[0, 0])
            fewer = pool.canvas.masked[ranked[0]].sum() < before.canvas.masked[best_before].sum()
            width = 1 if row in accelerated and bool(fewer) else self.rule.beam_width
            chosen += ranked[:width]
        return _pick(pool, torch.tensor(chosen, device=pool.owner.device))

    def _ranked(self, pool: Beams, row: int) -> list[int]:
        """The distinct beams of a row, best first."""
        mine = (pool.owner == row).nonzero()[:, 0]
        order = mine[pool.score[mine].sort(descending=True, stable=True).indices]
        distinct = {tuple(pool.canvas.tokens[i].tolist()): i for i in reversed(order.tolist())}
        return [i for i in order.tolist() if i in distinct.values()]

    def _decision(
        self, canvas: Canvas, going: Tensor, proposal: Proposal, owner: Tensor
    ) -> Decision:
        """Show each row's best beam that is not finished; once all are, the best of all."""
        assert self.beams is not None
        beams = self.beams
        unfinished = beams.canvas.masked.any(dim=1)
        shown = []
        for row in range(canvas.rows):
            mine = (beams.owner == row).nonzero()[:, 0]
            open_ones = mine[unfinished[mine]]
            shown.append(int(open_ones[0] if len(open_ones) else mine[0]))
        tokens = beams.canvas.tokens[torch.tensor(shown, device=canvas.tokens.device)]
        confidence = torch.zeros_like(proposal.probability[:1]).repeat(canvas.rows, 1)
        first = {int(owner[beam]): i for i, beam in reversed(list(enumerate(going.tolist())))}
        for row, i in first.items():
            confidence[row] = proposal.probability[i]
        return Decision(tokens, tokens != canvas.tokens, confidence, {})


def _stack(canvases: list[Canvas]) -> Canvas:
    """Canvases of equal length, one below the other."""
    names = ("tokens", "given", "valid", "block", "budget", "start", "step", "block_step")
    joined: dict[str, Any] = {
        name: torch.cat([getattr(canvas, name) for canvas in canvases]) for name in names
    }
    return replace(canvases[0], **joined)


def _pick(pool: Beams, beams: Tensor) -> Beams:
    return Beams(take(pool.canvas, beams), pool.owner[beams], pool.score[beams])
