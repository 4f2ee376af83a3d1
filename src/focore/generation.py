"""Prompts in, completions out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, overload

import torch

from .canvas import Canvas, Row, blanks, continuation
from .decoding.focore import Watch
from .decoding.loop import Batch, Step, Stop
from .decoding.method import Method
from .decoding.methods import find
from .decoding.noise import Noise, row_seed
from .decoding.options import LARGEST_SEED, Option, Settings, options_of, refuse_unknown
from .decoding.policy import Compose, Policy
from .errors import OptionError
from .loading import Model
from .model.cache import check_cache, make_passes
from .prompts import Blanked, Prompt, blanked, fixed_ids, prompt_ids, several, stop_strings

BLOCK_LENGTH = 32
BATCH_SIZE = Option("batch_size", 16, int, "rows decoded side by side", low=1)
SEED = Option("seed", 0, int, "where randomness begins", low=0, high=LARGEST_SEED)


@dataclass(frozen=True)
class Completion:
    """One answer, and what it took."""

    tokens: list[int]  # exactly gen_length
    text: str  # cut at the first end token
    steps: int  # denoising steps of this row
    passes: int  # forward passes this row took part in
    seconds: float  # until this row was done
    method: str
    options: dict[str, Any]  # all of them
    seed: int


@dataclass(frozen=True)
class Infilled(Completion):
    """A text with its blanks filled: `text` is all of it, `tokens` are those of the blanks."""

    sequence: list[int] = field(default_factory=list)  # the tokens of all of it
    blanks: list[str] = field(default_factory=list)  # the text of each blank


@dataclass(frozen=True)
class Plan:
    """A method with all its options, ready to run on a model."""

    model: Model
    method: Method
    settings: Settings
    policy: Policy
    options: dict[str, Any]
    seed: int

    @classmethod
    def make(cls, model: Model, method: str, seed: int, given: Mapping[str, Any]) -> Plan:
        """Sort the options into common ones and the method's own, and check them all."""
        found = find(method)
        common = options_of(Settings)
        refuse_unknown(given, {**common, **found.options}, f"method {found.name!r}")
        settings = Settings(**{name: given[name] for name in given if name in common})
        whole = settings.schedule == "dream" or found.whole
        check_cache(model.denoiser, settings.cache)
        settings = replace(
            settings,
            block_length=settings.block_length or (settings.gen_length if whole else BLOCK_LENGTH),
            steps=settings.steps or settings.gen_length,
            top_k=settings.top_k or (model.denoiser.own_top_k if whole else None),
        )
        own = {name: given.get(name, item.default) for name, item in found.options.items()}
        policy = found.policy(model, settings, own)
        options = {name: getattr(settings, name) for name in common} | own
        return cls(model, found, settings, policy, options, SEED.check(seed))

    def watched(self) -> Plan:
        """The same plan, with the instability of every token noted, if its method allows it."""
        if not isinstance(self.policy, Compose):
            return self
        return replace(self, policy=replace(self.policy, guidance=Watch(self.policy.guidance)))

    def continuation(self, prompt: Prompt, chat: bool | None) -> Row:
        """The row of a prompt, with the fixed text in its answer."""
        settings = self.settings
        assert settings.block_length and settings.steps
        ids, limit = prompt_ids(self.model, prompt, chat), self.model.denoiser.max_length
        if len(ids) + settings.gen_length > limit:
            raise OptionError(
                f"a prompt of {len(ids)} tokens and gen_length={settings.gen_length} are more "
                f"than the model's {limit} positions"
            )
        return continuation(
            ids,
            settings.gen_length,
            settings.block_length,
            settings.steps,
            self.model.mask_id,
            fixed_ids(self.model, settings.fixed, settings.prefix),
        )

    def blanks(self, ids: Sequence[int], steps: int | None) -> Row:
        """The row of a text with masks in it."""
        limit = self.model.denoiser.max_length
        if len(ids) > limit:
            raise OptionError(f"a text of {len(ids)} tokens; the model has {limit} positions")
        assert self.settings.block_length
        return blanks(ids, self.settings.block_length, steps, self.model.mask_id)


@dataclass
class Tally:
    """What a row has come to so far."""

    tokens: list[int]
    steps: int = 0
    passes: int = 0
    begin: float = 0.0
    seconds: float = 0.0


class Runner:
    """Rows of one plan under decoding."""

    def __init__(self, plan: Plan):
        self._device = plan.model.denoiser.device
        ends = plan.model.end_ids
        stop = Stop(ends, ends[0]) if plan.settings.stop_at_eos and ends else None
        passes = partial(make_passes, plan.model.denoiser, plan.settings.cache)
        self.batch = Batch(passes, plan.policy, stop)

    def admit(self, rows: Sequence[Row], seeds: Sequence[int], names: Sequence[int]) -> None:
        """Let rows join, each under a name that its steps will carry."""
        canvas = Canvas.lay(rows, self._device)
        noise = Noise.seeded(seeds, [len(row.tokens) for row in rows], self._device)
        self.batch.admit(canvas, noise, torch.tensor(names, device=self._device))


def finish(plan: Plan, rows: Sequence[Row], batch_size: int) -> list[Tally]:
    """Decode rows to the end.

    A row that is done makes place for the next one at once. Long rows go first, so that rows of
    like length are side by side and those that follow always fit.
    """
    size = BATCH_SIZE.check(batch_size)
    seeds = row_seeds(plan.seed, rows)
    tallies = [Tally(row.tokens) for row in rows]
    waiting = sorted(range(len(rows)), key=lambda i: len(rows[i].tokens))
    runner = Runner(plan)
    while waiting or len(runner.batch):
        free = size - len(runner.batch)
        if waiting and free:
            names = [waiting.pop() for _ in range(min(free, len(waiting)))]
            runner.admit([rows[i] for i in names], [seeds[i] for i in names], names)
            begin = time.perf_counter()
            for name in names:
                tallies[name].begin = begin
        if len(runner.batch):
            record(runner.batch.step(), tallies)
    return tallies


def row_seeds(seed: int, rows: Sequence[Row]) -> list[int]:
    """A seed for each row, another one each time that the same row comes again."""
    seen: Counter[tuple[int, ...]] = Counter()
    seeds = []
    for row in rows:
        key = tuple(row.tokens)
        seeds.append(row_seed(seed, key, seen[key]))
        seen[key] += 1
    return seeds


def record(step: Step, tallies: Sequence[Tally] | Mapping[int, Tally]) -> None:
    """Add a step to the tallies of its rows, which are found by name."""
    done, counts = step.done.tolist(), step.passes.tolist()
    for place, row in enumerate(step.row.tolist()):
        tally = tallies[row]
        tally.steps += 1
        tally.passes += counts[place]
        if done[place]:
            tally.tokens = step.tokens[place, : len(tally.tokens)].tolist()
            tally.seconds = time.perf_counter() - tally.begin


@overload
def generate(model: Model, prompts: str | Sequence[int], **options: Any) -> Completion: ...
@overload
def generate(model: Model, prompts: Sequence[Prompt], **options: Any) -> list[Completion]: ...
def generate(
    model: Model,
    prompts: Any,
    *,
    method: str = "focore",
    seed: int = 0,
    chat: bool | None = None,
    stop: str | Sequence[str] | None = None,
    batch_size: int = 16,
    **options: Any,
) -> Completion | list[Completion]:
    """Answer one prompt or a list of prompts.

    A prompt is a string, a list of chat messages, or a list of token ids, used as they are. A
    string is put into the chat template of an instruct model; `chat` forces it or forbids it. The
    text of an answer ends before its first end token, and before the first string of `stop`.
    `options` are those that every method takes, and the method's own; `focore.METHODS` has them.
    """
    plan = Plan.make(model, method, seed, options)
    many = several(prompts)
    stops = stop_strings(stop)
    rows = [plan.continuation(prompt, chat) for prompt in (prompts if many else [prompts])]
    made = []
    for row, tally in zip(rows, finish(plan, rows, batch_size), strict=True):
        answer = tally.tokens[row.start :]
        text = model.text.answer(answer, stops) if model.text else ""
        made.append(Completion(answer, text, **_cost(plan, tally)))
    return made if many else made[0]


@overload
def infill(model: Model, texts: str | Sequence[int], **options: Any) -> Infilled: ...
@overload
def infill(model: Model, texts: Sequence[Any], **options: Any) -> list[Infilled]: ...
def infill(
    model: Model,
    texts: Any,
    *,
    method: str = "focore",
    seed: int = 0,
    batch_size: int = 16,
    steps: int | None = None,
    **options: Any,
) -> Infilled | list[Infilled]:
    """Fill the blanks of a text: `[MASK]` for one token, `[MASK:n]` for n, or mask ids among ids.

    Blanks are decoded in blocks of `block_length` masks from left to right; the text around them is
    never changed. `steps` is the budget of each text, by default one step a mask.
    """
    many = several(texts)
    asked = [blanked(model, text) for text in (texts if many else [texts])]
    plan, rows = infilling(model, asked, method, seed, steps, options)
    tallies = finish(plan, rows, batch_size)
    made = [_filled(plan, text, tally) for text, tally in zip(asked, tallies, strict=True)]
    return made if many else made[0]


def infilling(
    model: Model,
    texts: Sequence[Blanked],
    method: str,
    seed: int,
    steps: int | None,
    options: Mapping[str, Any],
) -> tuple[Plan, list[Row]]:
    """The plan for texts with blanks, and their rows."""
    for name in ("gen_length", "prefix", "fixed"):
        if name in options:
            raise OptionError(f"{name} is not an option of infill, which takes the text as it is")
    longest = max((sum(text.sizes) for text in texts), default=1)
    plan = Plan.make(model, method, seed, {**options, "gen_length": longest, "steps": steps})
    return plan, [plan.blanks(text.ids, steps) for text in texts]


def _filled(plan: Plan, given: Blanked, tally: Tally) -> Infilled:
    """A text as it was given, with its blanks decoded."""
    both = zip(given.ids, tally.tokens, strict=True)
    tokens = [token for before, token in both if before == plan.model.mask_id]
    if plan.model.text is None:
        return Infilled(tokens, "", **_cost(plan, tally), sequence=tally.tokens)
    left = iter(tokens)
    filled = [plan.model.text.decode(list(islice(left, size))) for size in given.sizes]
    text = plan.model.text.decode(tally.tokens)
    if given.between:
        text = "".join(a + b for a, b in zip(given.between, [*filled, ""], strict=True))
    return Infilled(tokens, text, **_cost(plan, tally), sequence=tally.tokens, blanks=filled)


def _cost(plan: Plan, tally: Tally) -> dict[str, Any]:
    return {
        "steps": tally.steps,
        "passes": tally.passes,
        "seconds": tally.seconds,
        "method": plan.method.name,
        "options": dict(plan.options),
        "seed": plan.seed,
    }
