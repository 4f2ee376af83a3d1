"""FoCore and FoCore_A, "Focus on the Core: Empowering Diffusion Large Language Models by
Self-Contrast".

FoCore hides the written tokens whose predictions shift most from step to step, the core tokens, and
contrasts with what the model says without them. FoCore_A commits more at once when the shifts have
died down. Where the paper is ambiguous, docs/paper.md says which reading is ours.

Of the previous step only the hidden states and the log-normalisers are kept: its probabilities on
the top tokens of this step are recomputed from the head's rows of those tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from ..canvas import Canvas, highest
from ..model.denoiser import Prediction, positionwise
from .commit import Choice, Propose
from .guidance import Denoise, Guidance, Guided, Notes
from .noise import Noise
from .options import Piece, option
from .schedules import Schedule

FEW = 16  # tokens that hold nearly all of a distribution that has settled


def jensen_shannon(p: Tensor, q: Tensor) -> Tensor:
    """1/2 sum p log(p/m) + 1/2 sum q log(q/m), m = (p + q)/2, over the last axis, 0 log 0 = 0.

    On a part of the vocabulary it is the truncated divergence; nothing is renormalised.
    """
    m = ((p + q) / 2).clamp(min=torch.finfo(p.dtype).tiny)
    return (torch.xlogy(p, p / m) + torch.xlogy(q, q / m)).sum(dim=-1) / 2


@dataclass(frozen=True)
class Core(Piece):
    """Hide the core tokens: S <- a S + (1 - a) D, and the K written positions of largest S."""

    core_tokens: int = option(8, "K, how many core tokens to hide", low=0)
    divergence_top_k: int = option(256, "k, tokens of the vocabulary that D looks at", low=1)
    ema_decay: float = option(0.9, "a, how slowly the instability S forgets", low=0, high=1)
    scope: str = option("all", "where core tokens may lie", choices=("all", "generated", "prompt"))
    cold_start: str = option(
        "zero", "D of the first step: 0, or from P = 0 as printed", choices=("zero", "literal")
    )
    tie_noise: float = option(1e-8, "random noise on S that breaks ties; 0 for none", low=0)
    track_open: bool = False  # keep S for the masks of the current block too
    slack: float = 0.0  # D from fewer tokens where they leave out at most this share

    def start(self) -> Instability:
        return Instability(self)

    def watched(self, canvas: Canvas) -> Tensor:
        """(rows, length) bool: U_t, the written positions in scope."""
        if self.scope == "all":
            return canvas.written
        return canvas.written & (canvas.given if self.scope == "prompt" else ~canvas.given)


@dataclass
class Instability:
    """The running form of `Core`: S of every position, and the step before."""

    rule: Core
    score: Tensor | None = None  # S (rows, length)
    before: Prediction | None = None
    log_total: Tensor | None = None  # (rows, length) of the step before, NaN where not computed

    def __call__(self, canvas: Canvas, given: Prediction, noise: Noise) -> tuple[Tensor, Notes]:
        watched = self.rule.watched(canvas)
        divergence = self._update(canvas, given, watched)
        assert self.score is not None
        core = self._core(watched, noise)
        notes = {"instability": self.score, "divergence": divergence, "watched": watched}
        return core, {**notes, "core": core}

    def _core(self, watched: Tensor, noise: Noise) -> Tensor:
        """(rows, length) bool: K_t, the watched positions of largest S."""
        assert self.score is not None
        score, most = self.score, self.rule.core_tokens
        if not self.rule.tie_noise:
            return _largest(score, most, watched, noise.lengths)
        score = score + (noise.everywhere(score.shape[1]) * self.rule.tie_noise).to(score.dtype)
        return highest(score, torch.full_like(score[:, 0], most), watched)

    def _update(self, canvas: Canvas, given: Prediction, watched: Tensor) -> Tensor:
        """Bring S up to date; returns D (rows, length), zero where it was not measured."""
        tracked = (watched | canvas.open if self.rule.track_open else watched) & given.known
        self._forget(canvas.step == 0)
        divergence, log_total = self._divergence(canvas, given, tracked)
        if self.score is None or self.before is None or self.log_total is None:
            self.score = torch.zeros_like(divergence)
            self.before = given
            self.log_total = torch.full_like(divergence, torch.nan)
        decay = self.rule.ema_decay
        smoothed = decay * self.score + (1 - decay) * divergence
        self.score = torch.where(tracked, smoothed, self.score)
        self.before = self.before.merged(given)
        self.log_total = torch.where(tracked, log_total, self.log_total)
        return divergence

    def _forget(self, fresh: Tensor) -> None:
        """Begin anew in the rows (rows,) that take their first step."""
        if self.score is not None and self.log_total is not None:
            self.score = torch.where(fresh[:, None], 0, self.score)
            self.log_total = torch.where(fresh[:, None], torch.nan, self.log_total)

    def _divergence(
        self, canvas: Canvas, given: Prediction, tracked: Tensor
    ) -> tuple[Tensor, Tensor]:
        """D and the log-normalisers of this step (rows, length) at the tracked positions."""
        before, log_before = self.before, self._log_before(canvas, tracked)
        k = min(self.rule.divergence_top_k, given.vocabulary)
        fresh, slack = canvas.step == 0, self.rule.slack

        def compare(row: Tensor, position: Tensor, k: int) -> tuple[Tensor, Tensor, Tensor]:
            """D on the top k, the normaliser, and the share of both that the top k leave out."""
            values, tokens, log_total = given.top(row, position, k)
            p = (values - log_total[:, None]).exp()
            q = torch.zeros_like(p)
            if before is not None:
                q = before.logits_of(row, position, tokens)
                q = (q - log_before[row, position][:, None]).exp()
            q = torch.where(fresh[row][:, None], 0, q)
            return jensen_shannon(p, q), log_total, 1 - (p + q).sum(dim=1) / 2

        def measure(row: Tensor, position: Tensor) -> tuple[Tensor, Tensor]:
            few = min(k, FEW) if slack else k
            divergence, log_total, left_out = compare(row, position, few)
            if few < k:
                more = (left_out > slack).nonzero()[:, 0]
                exact, _, _ = compare(row[more], position[more], k)
                divergence = divergence.index_copy(0, more, exact)
            if self.rule.cold_start == "zero":
                divergence = torch.where(fresh[row], 0, divergence)
            return divergence, log_total

        divergence, log_total = positionwise(tracked, given.vocabulary, measure)
        return divergence, log_total

    def _log_before(self, canvas: Canvas, tracked: Tensor) -> Tensor:
        """(rows, length) log-normalisers of the step before, filled in where now needed.

        A position written in the last step was a mask in it, and its normaliser was not computed.
        """
        before, log_before = self.before, self.log_total
        if before is None or log_before is None:
            return torch.empty(0)

        def measure(row: Tensor, position: Tensor) -> tuple[Tensor]:
            return (before.logits(row, position).logsumexp(dim=1),)

        missing = tracked & log_before.isnan() & (canvas.step > 0)[:, None]
        (found,) = positionwise(missing, before.vocabulary, measure)
        return torch.where(missing, found, log_before)


def _largest(score: Tensor, count: int, among: Tensor, lengths: Sequence[int]) -> Tensor:
    """The `count` positions of largest score in each row, as bool.

    Positions that never moved come from left to right. Other ties only arise on Dream, whose first
    two positions share one prediction; they are left to `topk`, over the row without its padding,
    which has a say in them. Rows of one length go together.
    """
    order = torch.arange(score.shape[1], device=score.device, dtype=score.dtype)
    score = torch.where(score > 0, score, -order)
    score = torch.where(among, score, -torch.inf)
    found = torch.zeros_like(among)
    for length in set(lengths):
        rows = [row for row, own in enumerate(lengths) if own == length]
        some = score if len(rows) == len(score) else score[rows]
        top = some[:, :length].topk(min(count, length)).indices
        where = torch.tensor(rows, device=score.device)[:, None]
        found[where, top] = True
    return found & among


@dataclass(frozen=True)
class Watch:
    """Any guidance, with the instability of its first pass noted beside it; it changes nothing.

    Its D is within ln 2 x slack of the whole vocabulary's wherever few tokens suffice.
    """

    guidance: Guidance
    core: Core = field(default_factory=lambda: Core(tie_noise=0.0, slack=1e-3))

    def start(self) -> RunningWatch:
        return RunningWatch(self.guidance.start(), self.core.start())


@dataclass
class RunningWatch:
    guidance: Any
    instability: Instability

    def __call__(self, canvas: Canvas, denoise: Denoise, noise: Noise) -> Guided:
        guided: Guided = self.guidance(canvas, denoise, noise)
        if "instability" in guided.notes:
            return guided
        _, notes = self.instability(canvas, guided.given, noise)
        return replace(guided, notes={**notes, **guided.notes})


@dataclass(frozen=True)
class Burst(Piece):
    """FoCore_A: commit up to m more when the mean of S is below the threshold.

    `finish`: commit all masks left in the block if that takes at most m more than the schedule;
    `once`: the first converged step of a block commits m more; `repeat`: every converged step does.
    """

    schedule: Schedule
    convergence_threshold: float = option(0.01, "tau, mean S that counts as converged", low=0)
    parallel_tokens: int = option(5, "m, tokens committed beyond the schedule", low=0)
    burst: str = option("finish", "what convergence allows", choices=("finish", "once", "repeat"))
    monitor: str = option(
        "decoded",
        "mean over written positions (Algorithm 2) or over the block's masks (the text)",
        choices=("decoded", "undecoded"),
    )

    def start(self) -> RunningBurst:
        return RunningBurst(self)

    def most(self, canvas: Canvas) -> Tensor:
        """(rows,) how many positions the step may commit, should it have converged."""
        quota, left = self.schedule(canvas), canvas.open.sum(dim=1)
        more = quota + self.parallel_tokens
        return torch.where(left <= more, left, quota if self.burst == "finish" else more)


@dataclass
class RunningBurst:
    rule: Burst
    spent: Tensor | None = None  # (rows,) the block in which `once` was last used

    def __call__(self, canvas: Canvas, guided: Guided, propose: Propose, noise: Noise) -> Choice:
        proposal = propose(canvas.open)
        quota, left = self.rule.schedule(canvas), canvas.open.sum(dim=1)
        mean = self._mean(canvas, guided.notes)
        converged = mean < self.rule.convergence_threshold
        more = quota + self.rule.parallel_tokens
        if self.rule.burst == "finish":
            count = torch.where(converged & (left <= more), left, quota)
        elif self.rule.burst == "repeat":
            count = torch.where(converged, more, quota)
        else:
            spent = torch.full_like(left, -1) if self.spent is None else self.spent
            spent = torch.where(canvas.step == 0, -1, spent)
            fire = converged & (spent != canvas.current)
            self.spent = torch.where(fire, canvas.current, spent)
            count = torch.where(fire, more, quota)
        where = highest(proposal.score, count, canvas.open)
        return Choice(where, proposal, {"convergence": mean})

    def _mean(self, canvas: Canvas, notes: Notes) -> Tensor:
        """(rows,) mean S over the monitored positions; NaN, never converged, over none."""
        over = notes["watched"] if self.rule.monitor == "decoded" else canvas.open
        return (notes["instability"] * over).sum(dim=1) / over.sum(dim=1)
