"""Answers as OpenAI has them, and what a diffusion model has to add."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core import band
from ..loading import Model
from .deltas import Growing
from .requests import Asked
from .tickets import News, Seen


@dataclass
class Choice:
    """One row's answer, as far as it has come."""

    growing: Growing
    revises: bool  # whether nothing is final before the end
    steps: int = 0
    passes: int = 0

    def feed(self, news: News) -> str:
        """Take in news; the text that is final since the last ones."""
        self.steps, self.passes = news.tally.steps, news.tally.passes
        if self.revises and not news.done:
            return ""
        return self.growing.feed(news.tokens, news.done)


@dataclass
class Answer:
    """The answer to a request, made choice by choice."""

    asked: Asked
    name: str  # the model's, for clients
    choices: list[Choice] = field(init=False)
    trace: str | None = None
    begin: float = field(default_factory=time.perf_counter)
    created: int = field(default_factory=lambda: int(time.time()))
    id: str = field(init=False)

    def __post_init__(self) -> None:
        plan, stops = self.asked.plan, self.asked.stops
        self.choices = [
            Choice(Growing(plan.model, stops), plan.method.revises) for _ in self.asked.jobs
        ]
        self.id = ("chatcmpl-" if self.asked.chat else "cmpl-") + uuid.uuid4().hex

    @property
    def usage(self) -> dict[str, int]:
        prompt = sum(job.row.start for job in self.asked.jobs)
        made = sum(choice.growing.tokens for choice in self.choices)
        said = {"prompt_tokens": prompt, "completion_tokens": made}
        return {**said, "total_tokens": prompt + made}

    @property
    def summary(self) -> dict[str, Any]:
        """What it took; of several choices, all together."""
        plan = self.asked.plan
        return {
            "method": plan.method.name,
            "options": dict(plan.options),
            "seed": plan.seed,
            "steps": sum(choice.steps for choice in self.choices),
            "passes": sum(choice.passes for choice in self.choices),
            "seconds": round(time.perf_counter() - self.begin, 6),
            "trace": self.trace,
        }

    def whole(self) -> dict[str, Any]:
        """The answer in one piece."""
        return {
            **self._head("chat.completion" if self.asked.chat else "text_completion"),
            "choices": [self._choice(i, choice) for i, choice in enumerate(self.choices)],
            "usage": self.usage,
            "focore": self.summary,
        }

    def chunk(
        self, index: int, text: str, reason: str | None = None, **focore: Any
    ) -> dict[str, Any]:
        """A piece of a choice."""
        said: dict[str, Any] = {"index": index, "logprobs": None, "finish_reason": reason}
        said |= {"delta": {"content": text} if text else {}} if self.asked.chat else {"text": text}
        made = {**self._head(self._piece), "choices": [said]}
        return {**made, "focore": focore} if focore else made

    def opening(self, index: int) -> dict[str, Any]:
        """The first piece of a chat's choice, which says who speaks."""
        delta = {"role": "assistant", "content": ""}
        said = {"index": index, "delta": delta, "logprobs": None, "finish_reason": None}
        return {**self._head(self._piece), "choices": [said]}

    def closing(self) -> dict[str, Any]:
        """The last piece of a stream that was asked for its usage."""
        return {**self._head(self._piece), "choices": [], "usage": self.usage}

    @property
    def _piece(self) -> str:
        return "chat.completion.chunk" if self.asked.chat else "text_completion"

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.name}

    def _choice(self, index: int, choice: Choice) -> dict[str, Any]:
        growing = choice.growing
        said: dict[str, Any] = {"index": index, "logprobs": None, "finish_reason": growing.reason}
        if self.asked.chat:
            message = {"role": "assistant", "content": growing.text, "refusal": None}
            return {**said, "message": message}
        return {**said, "text": growing.text}


def step_notes(model: Model, start: int, seen: Seen) -> dict[str, Any]:
    """A step as a page draws it, answer positions only; None for what was not measured."""
    frame, notes = seen.frame, seen.frame.notes
    core = [i for i, chosen in enumerate(notes.get("core", [])[start:]) if chosen]
    instability, answer = notes.get("instability"), frame.tokens[start:]
    return {
        "step": frame.index,
        "passes": frame.passes,
        "canvas": spelt(model, answer),
        "ends": [i for i, token in enumerate(answer) if token in model.end_ids],
        "committed": [place - start for place in frame.committed if place >= start],
        "confidence": _rounded(frame.confidence[start:]),
        "instability": None if instability is None else _rounded(instability[start:]),
        "core": core,
        "bands": None if seen.largest is None else [band(s) for s in seen.largest[start:]],
    }


def spelt(model: Model, tokens: Sequence[int]) -> list[str | None]:
    """The text of each token, None for a mask."""
    if model.text is None:
        return [None if token == model.mask_id else f"{token} " for token in tokens]
    pieces = model.text.pieces(tokens)
    return [None if t == model.mask_id else piece for t, piece in zip(tokens, pieces, strict=True)]


def _rounded(values: Sequence[float]) -> list[float]:
    return [float(f"{value:.4g}") for value in values]
