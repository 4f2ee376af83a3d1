"""Findings 2 and 3 over many answers, and how far the two detectors agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass

from ..core import CoreTokens
from ..decoding.words import dense
from .sensitivity import Sensitivity

KINDS = {True: "HD", False: "LD"}


@dataclass(frozen=True)
class Mean:
    """A mean over answers with its 95% interval."""

    value: float
    half: float
    count: int


def mean(values: Sequence[float]) -> Mean:
    """The mean of independent values, with a normal interval."""
    if not values:
        return Mean(math.nan, math.nan, 0)
    centre = sum(values) / len(values)
    spread = sum((value - centre) ** 2 for value in values) / max(1, len(values) - 1)
    return Mean(centre, 1.96 * math.sqrt(spread / len(values)), len(values))


def drops(found: Sequence[Sensitivity]) -> dict[str, list[Mean]]:
    """Finding 2: mean drop of confidence by ratio, over answers, of HD and of LD tokens."""
    curves: dict[str, list[Mean]] = {}
    for kind, name in KINDS.items():
        curves[name] = [
            mean([-sum(row) / len(row) for row in _of_kind(found, kind, ratio)])
            for ratio in range(len(found[0].ratios))
        ]
    return curves


def _of_kind(found: Iterable[Sensitivity], kind: bool, ratio: int) -> Iterable[list[float]]:
    for answer in found:
        row = [c for c, d in zip(answer.change[ratio], answer.dense, strict=True) if d == kind]
        if row:
            yield row


def decoded_by(found: Sequence[Sensitivity], points: int = 33) -> dict[str, list[float]]:
    """Finding 3: share of HD and of LD tokens decoded by each share of the steps."""
    curves = {}
    for kind, name in KINDS.items():
        times = [
            (step + 1) / answer.steps
            for answer in found
            for step, is_dense in zip(answer.step, answer.dense, strict=True)
            if is_dense == kind
        ]
        shares = [i / (points - 1) for i in range(points)]
        total = max(1, len(times))
        curves[name] = [sum(t <= share + 1e-9 for t in times) / total for share in shares]
    return curves


def differences(found: Sequence[Sensitivity], ratio: int) -> dict[str, Mean]:
    """HD less LD within each answer that has both, at one masked share of the prompt.

    `collapsed`: share of tokens whose probability falls by more than 0.5 (finding 1); `drop`:
    the mean drop (finding 2); `step`: when they are committed, as a share of the steps (finding 3).
    """
    return {
        "collapsed": _paired(found, lambda one, i: one.change[ratio][i] < -0.5),
        "drop": _paired(found, lambda one, i: -one.change[ratio][i]),
        "step": _paired(found, lambda one, i: (one.step[i] + 1) / one.steps),
    }


def _paired(found: Iterable[Sensitivity], value: Callable[[Sensitivity, int], float]) -> Mean:
    gaps = []
    for one in found:
        high, low = ([value(one, i) for i, d in enumerate(one.dense) if d == k] for k in KINDS)
        if high and low:
            gaps.append(sum(high) / len(high) - sum(low) / len(low))
    return mean(gaps)


def collapsed(found: Sequence[Sensitivity], ratio: int) -> dict[str, float]:
    """Finding 1: share of all HD and of all LD tokens that lose more than 0.5."""
    shares = {}
    for kind, name in KINDS.items():
        lost = [change < -0.5 for row in _of_kind(found, kind, ratio) for change in row]
        shares[name] = sum(lost) / max(1, len(lost))
    return shares


@dataclass(frozen=True)
class Words:
    """How often each word was core by the automatic detector, and HD by the linguistic one."""

    automatic: Counter[str]
    linguistic: Counter[str]
    both: int
    only_automatic: int
    only_linguistic: int
    neither: int

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement beyond chance, 0 for none, 1 for all."""
        total = self.both + self.only_automatic + self.only_linguistic + self.neither
        core, high = self.both + self.only_automatic, self.both + self.only_linguistic
        chance = (core * high + (total - core) * (total - high)) / max(1, total) ** 2
        agreed = (self.both + self.neither) / max(1, total)
        return (agreed - chance) / (1 - chance) if chance < 1 else 1.0


def words(runs: Iterable[CoreTokens], special: Set[int], template: Sequence[int] = ()) -> Words:
    """Count the words of prompts and answers, without special tokens and the chat template's."""
    automatic: Counter[str] = Counter()
    linguistic: Counter[str] = Counter()
    cells: Counter[tuple[bool, bool]] = Counter()
    for run in runs:
        core = {position for step in run.core for position in step}
        for position in _said(run, template):
            token, piece = run.tokens[position], run.pieces[position]
            if token in special or not piece.strip():
                continue
            verdicts = position in core, dense(piece)
            automatic[piece.strip()] += verdicts[0]
            linguistic[piece.strip()] += verdicts[1]
            cells[verdicts] += 1
    return Words(
        +automatic,
        +linguistic,
        cells[True, True],
        cells[True, False],
        cells[False, True],
        cells[False, False],
    )


def _said(run: CoreTokens, template: Sequence[int]) -> list[int]:
    """The positions of a run that are not the template of an empty prompt around the prompt."""
    pairs = enumerate(zip(run.tokens, template, strict=False))
    head = next((i for i, (token, other) in pairs if token != other), len(template))
    tail = len(template) - head
    return [*range(head, run.start - tail), *range(run.start, len(run.tokens))]
