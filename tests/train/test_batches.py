"""Batches: laid out without padding, masked as they should be."""

import random

import pytest
import torch

from focore.train import tokenizer as text
from focore.train.batches import FILLER, PACKED, Source, mask
from focore.train.problems import TASKS, split
from focore.train.start import make_tokenizer


@pytest.fixture(scope="module")
def source() -> Source:
    return Source(make_tokenizer(0), seed=3, size=1200)


@pytest.mark.parametrize("task", [*TASKS, "drills"])
def test_a_step_gives_the_same_batch(source, task):
    first, again = source.batch(task, 5), source.batch(task, 5)
    assert torch.equal(first.tokens, again.tokens)
    assert torch.equal(first.masked, again.masked)
    other = source.batch(task, 6)
    assert first.tokens.shape != other.tokens.shape or not torch.equal(first.tokens, other.tokens)


@pytest.mark.parametrize("task", TASKS)
def test_rows_are_prompt_answer_and_ends(source, task):
    tokenizer = source.tokenizer
    for step in range(6):
        batch = source.batch(task, step)
        for row, masked, weight in zip(batch.tokens, batch.masked, batch.weight, strict=True):
            written = tokenizer.decode(row.tolist(), skip_special_tokens=False)
            prompt, _, rest = written.partition(f"assistant{text.HEADER_END}")
            answer, _, filler = rest.partition(text.END)
            assert answer and filler.replace(text.END, "") == ""
            start = len(tokenizer.encode(prompt).ids) + 2
            assert not masked[:start].any()
            assert masked[start:].any()
            assert (weight == FILLER).sum() == filler.count(text.END)


def test_drills_hide_one_token_of_each_equation_mostly_the_result(source):
    batch = source.batch("drills", 0)
    masked = batch.masked.view(-1, 6)
    assert (masked.sum(dim=1) == 1).all()
    assert masked[:, 4].float().mean() > 0.5
    lines = source.tokenizer.decode(batch.tokens[0].tolist()).split()
    assert len(lines) == PACKED
    assert all(eval(line.replace("=", "==")) for line in lines)


def test_some_rows_hide_only_a_result_and_its_copies(source):
    equals = source.tokenizer.token_to_id("=")
    batch = source.batch("words", 0)
    rows = 0
    for tokens, masked in zip(batch.tokens, batch.masked, strict=True):
        first = int(masked.nonzero()[0])
        if tokens[first - 1] == equals and (tokens[masked] == tokens[first]).all():
            assert masked[first:].equal(tokens[first:] == tokens[first])
            rows += 1
    assert 0.15 < rows / len(batch.tokens) < 0.7


def test_every_row_hides_something_and_ratios_are_spread():
    answer = torch.ones(64, 40, dtype=torch.bool)
    filler = torch.zeros_like(answer)
    hidden = mask(answer, filler, random.Random(0)).float().mean(dim=1)
    assert (hidden > 0).all()
    low, high = (hidden < 0.25).float().mean(), (hidden > 0.75).float().mean()
    assert 0.15 < low < 0.35 and 0.15 < high < 0.35


def test_no_batch_holds_a_held_out_problem(source):
    from focore.train import countdown

    tokenizer = source.tokenizer
    for step in range(5):
        for row in source.batch("countdown", step).tokens:
            numbers = [int(n) for n in tokenizer.decode(row[4:9].tolist()).split(", ")]
            assert split(countdown.key(numbers)) == "train"
