"""Batches of one task each, a matter of the seed and the step alone, so that a run can resume."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

import torch
from tokenizers import Tokenizer
from torch import Tensor

from . import arithmetic
from . import tokenizer as text
from .problem import worked
from .problems import sample

CANVASES = ((20, 32, 64), (0.7, 0.15, 0.15))  # lengths of the answer, and how often
POOL = 4  # word problems drawn for each one taken, so that a batch is of like length
PACKED = 8  # equations in a row of drills
RESULTS = 0.35  # rows that hide only a result: chance alone seldom shows both of its operands
FILLER = 0.05  # weight of the end tokens after the first, which are easy and many


@dataclass(frozen=True)
class Batch:
    """Rows to be completed."""

    task: str
    tokens: Tensor  # (rows, length), before masking
    masked: Tensor  # (rows, length), the positions to predict
    weight: Tensor  # (rows, length), of each position in the loss


@dataclass(frozen=True)
class Source:
    """Where batches come from."""

    tokenizer: Tokenizer
    seed: int
    size: int  # tokens in a batch, about

    @cached_property
    def end(self) -> int:
        return text.token(self.tokenizer, text.END)

    def batch(self, task: str, step: int) -> Batch:
        """The batch of one step."""
        rng = random.Random(f"{self.seed} {step} {task}")
        return self._drills(rng) if task == "drills" else self._problems(task, rng)

    def _drills(self, rng: random.Random) -> Batch:
        """Equations, a line each, of which one token is hidden, mostly the result.

        Several in a row, so that each is learnt among others, as it is met in an answer.
        """
        rows = self.size // (6 * PACKED)
        lines = [[arithmetic.equation(rng) for _ in range(PACKED)] for _ in range(rows)]
        tokens = torch.tensor(self._ids([worked(row) + "\n" for row in lines]))
        hidden = torch.tensor(rng.choices((4, 0, 1, 2), (7, 1, 1, 1), k=rows * PACKED))
        masked = torch.zeros(rows * PACKED, 6, dtype=torch.bool)
        masked[torch.arange(rows * PACKED), hidden] = True
        weight = torch.ones_like(tokens, dtype=torch.float)
        return Batch("drills", tokens, masked.view_as(tokens), weight)

    def _problems(self, task: str, rng: random.Random) -> Batch:
        canvas = rng.choices(*CANVASES)[0]
        problems = [sample(task, "train", rng) for _ in range(POOL * self.size // 60)]
        problems.sort(key=lambda problem: len(problem.prompt) + len(problem.answer))
        prompts = self._ids([text.chat(problem.prompt) for problem in problems])
        answers = self._ids([problem.answer for problem in problems])
        sizes = [len(p) + max(canvas, len(a) + 1) for p, a in zip(prompts, answers, strict=True)]
        start = rng.randrange(len(problems) - self._rows(max(sizes)))
        rows = self._rows(sizes[start])
        chosen = slice(start, start + rows)
        return self._laid_out(task, prompts[chosen], answers[chosen], max(sizes[chosen]), rng)

    def _rows(self, length: int) -> int:
        return max(4, self.size // length)

    def _ids(self, texts: list[str]) -> list[list[int]]:
        return [found.ids for found in self.tokenizer.encode_batch(texts)]

    def _laid_out(
        self,
        task: str,
        prompts: list[list[int]],
        answers: list[list[int]],
        length: int,
        rng: random.Random,
    ) -> Batch:
        """Prompt, answer, then end tokens up to the common length: nothing is padded."""
        tokens = torch.full((len(prompts), length), self.end)
        starts = torch.tensor([len(ids) for ids in prompts])[:, None]
        ends = starts + torch.tensor([len(ids) for ids in answers])[:, None]
        for row, ids in enumerate(zip(prompts, answers, strict=True)):
            joined = ids[0] + ids[1]
            tokens[row, : len(joined)] = torch.tensor(joined)
        place = torch.arange(length)[None]
        masked = mask(place >= starts, place > ends, rng)
        self._hide_results(tokens, masked, starts, rng)
        weight = torch.where(place > ends, FILLER, 1.0)
        return Batch(task, tokens, masked, weight)

    def _hide_results(
        self, tokens: Tensor, masked: Tensor, starts: Tensor, rng: random.Random
    ) -> None:
        """In some rows, hide one result and its later copies instead."""
        equals = text.token(self.tokenizer, "=")
        for row in range(len(tokens)):
            if rng.random() < RESULTS:
                signs = (tokens[row] == equals).nonzero().flatten().tolist()
                place = 1 + rng.choice([sign for sign in signs if sign >= starts[row]])
                masked[row] = tokens[row] == tokens[row, place]
                masked[row, :place] = False


def mask(answer: Tensor, filler: Tensor, rng: random.Random) -> Tensor:
    """Hide each position of the answer with probability t ~ U(0, 1), one stratum per row.

    In half of the rows all filler is hidden, as it is while the blocks before are decoded.
    """
    rows = len(answer)
    noise = torch.Generator().manual_seed(rng.getrandbits(62))
    strata = torch.randperm(rows, generator=noise)
    ratio = (strata + torch.rand(rows, generator=noise)) / rows
    draw = torch.rand(answer.shape, generator=noise)
    hidden = answer & (draw < ratio[:, None])
    whole = torch.rand(rows, generator=noise) < 0.5
    hidden |= filler & whole[:, None]
    needed = answer & ~filler
    # A row with nothing hidden would teach nothing: hide its likeliest position.
    least = draw.masked_fill(~needed, 2.0).argmin(dim=1)
    empty = ~(hidden & needed).any(dim=1)
    hidden[torch.arange(rows)[empty], least[empty]] = True
    return hidden
