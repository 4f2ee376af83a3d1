"""Runs recorded: of one prompt, of several, of a text with blanks, of frames."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from ..canvas import Row
from ..decoding.loop import Step
from ..errors import OptionError
from ..generation import Completion, Plan, Runner, infilling, row_seeds
from ..loading import Model
from ..prompts import Prompt, blanked, several
from ..streaming import Frame, frame
from .peek import peeked
from .spelling import joined, pieces
from .trace import CANDIDATES, About, Array, Recorder, Trace

TOGETHER = 16  # rows decoded side by side


class Recording:
    """Rows under decoding, side by side; yields their steps and keeps them.

    Without `watch` only the methods that need the instability measure it, and no other method
    takes longer for being recorded.
    """

    def __init__(
        self,
        plan: Plan,
        rows: Sequence[Row],
        seeds: Sequence[int] | None = None,
        watch: bool = True,
    ):
        self.plan, self.rows = plan, rows
        self.recorders = [Recorder(row.tokens) for row in rows]
        watched, self._last = peeked(plan.watched() if watch else plan)
        self._runner = Runner(watched)
        seeds = row_seeds(plan.seed, rows) if seeds is None else seeds
        self._runner.admit(rows, seeds, range(len(rows)))

    def __iter__(self) -> Iterator[Step]:
        while len(self._runner.batch):
            begin = time.perf_counter()
            step = self._runner.batch.step()
            self._keep(step, time.perf_counter() - begin)
            yield step

    def frames(self) -> Iterator[Frame]:
        """The steps of a run with one row, as `focore.stream` has them."""
        for index, step in enumerate(self):
            yield frame(self.rows[0], index, step, model=self.plan.model)

    def completion(self) -> Completion:
        """Take the steps that are left of a run with one row; its answer, as `generate` has it."""
        for _ in self:
            pass
        plan, recorder = self.plan, self.recorders[0]
        tokens = recorder.canvas[-1][self.rows[0].start :].tolist()
        return Completion(
            tokens=tokens,
            text=plan.model.text.answer(tokens) if plan.model.text else "",
            steps=len(recorder.canvas) - 1,
            passes=int(sum(recorder.kept["passes"])),
            seconds=float(sum(recorder.kept["seconds"])),
            method=plan.method.name,
            options=dict(plan.options),
            seed=plan.seed,
        )

    def traces(self) -> list[Trace]:
        """What was kept of each row."""
        return [
            recorder.trace(_about(self.plan, row.start, recorder))
            for row, recorder in zip(self.rows, self.recorders, strict=True)
        ]

    def _keep(self, step: Step, seconds: float) -> None:
        tokens, passes = _numpy(step.tokens), _numpy(step.passes)
        committed, confidence = _numpy(step.committed), _numpy(step.confidence)
        notes = {name: _numpy(value) for name, value in step.notes.items()}
        for place, name in enumerate(step.row.tolist()):
            self.recorders[name].add(
                tokens[place],
                {key: value[place] for key, value in notes.items()},
                committed=committed[place],
                confidence=confidence[place],
                passes=passes[place],
                seconds=seconds,
            )
        self._keep_candidates(step)

    def _keep_candidates(self, step: Step) -> None:
        proposed = step.committed & (step.confidence > 0)
        row, position = proposed.nonzero(as_tuple=True)
        if self._last is None or not len(row):
            return
        found, likelihood = self._last.likeliest(row, position, CANDIDATES)
        names = step.row[row].tolist()
        for name, at, ids, p in zip(
            names, position.tolist(), _numpy(found), _numpy(likelihood), strict=True
        ):
            self.recorders[name].propose(at, ids, p)


def record(
    model: Model,
    prompts: Any,
    *,
    method: str = "focore",
    seed: int = 0,
    chat: bool | None = None,
    watch: bool = True,
    **options: Any,
) -> Any:
    """The `Trace` of one prompt, or a list of those of several.

    Takes what `generate` takes, but no `stop` or `batch_size`.
    """
    plan = Plan.make(model, method, seed, options)
    many = several(prompts)
    given: Sequence[Prompt] = prompts if many else [prompts]
    traces = _recorded(plan, [plan.continuation(prompt, chat) for prompt in given], watch)
    return traces if many else traces[0]


def recording_of(
    model: Model,
    prompt: Prompt,
    *,
    method: str = "focore",
    seed: int = 0,
    chat: bool | None = None,
    **options: Any,
) -> Recording:
    """A recording of one prompt, its steps still to be taken."""
    plan = Plan.make(model, method, seed, options)
    return Recording(plan, [plan.continuation(prompt, chat)])


def record_infill(
    model: Model,
    text: Any,
    *,
    method: str = "focore",
    seed: int = 0,
    steps: int | None = None,
    **options: Any,
) -> Trace:
    """The trace of one text with its blanks filled.

    Takes what `infill` takes, but no `batch_size`.
    """
    plan, rows = infilling(model, [blanked(model, text)], method, seed, steps, options)
    return _recorded(plan, rows)[0]


def trace_of(
    model: Model,
    frames: Iterable[Frame],
    *,
    method: str = "",
    seed: int = 0,
    options: dict[str, Any] | None = None,
) -> Trace:
    """The trace of frames from `focore.stream`; it has no candidates."""
    recorder: Recorder | None = None
    begin, start = time.perf_counter(), 0
    for each in frames:
        start, seconds = each.start, time.perf_counter() - begin
        committed = np.zeros(len(each.tokens), dtype=np.bool_)
        committed[each.committed] = True
        recorder = recorder or Recorder(np.where(committed, model.mask_id, each.tokens).tolist())
        recorder.add(
            np.array(each.tokens),
            {name: np.array(value) for name, value in each.notes.items()},
            committed=committed,
            confidence=np.array(each.confidence),
            passes=each.passes,
            seconds=seconds,
        )
        begin = time.perf_counter()
    if recorder is None:
        raise OptionError("a run without a step has no trace")
    plan = Plan.make(model, method, seed, options or {}) if method else None
    return recorder.trace(_about(plan, start, recorder, model))


def _recorded(plan: Plan, rows: Sequence[Row], watch: bool = True) -> list[Trace]:
    seeds, traces = row_seeds(plan.seed, rows), []
    for low in range(0, len(rows), TOGETHER):
        some = slice(low, low + TOGETHER)
        recording = Recording(plan, rows[some], seeds[some], watch)
        for _ in recording:
            pass
        traces += recording.traces()
    return traces


def _about(plan: Plan | None, start: int, recorder: Recorder, model: Model | None = None) -> About:
    model = plan.model if plan else model
    assert model is not None
    canvas = np.stack(recorder.canvas)
    spelt = pieces(model, [*np.unique(canvas).tolist(), *np.unique(recorder.candidate).tolist()])
    return About(
        model=model.name,
        method=plan.method.name if plan else "",
        options=dict(plan.options) if plan else {},
        seed=plan.seed if plan else 0,
        start=start,
        mask_id=model.mask_id,
        end_ids=tuple(model.end_ids),
        measured=recorder.measured,
        pieces=spelt,
        joined=joined(model, canvas, spelt),
    )


def _numpy(tensor: Tensor) -> Array:
    array: Array = tensor.cpu().numpy()
    return array
