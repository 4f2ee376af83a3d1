"""The shipped model still solves problems: floors well below its measured figures."""

import pytest

import focore
from focore.train.problems import held_out
from focore.train.score import correct

FLOORS = {"countdown": 0.4, "words": 0.65, "arithmetic": 0.7}


@pytest.fixture(scope="module")
def model() -> focore.Model:
    return focore.load("tiny")


@pytest.mark.parametrize("task", FLOORS)
def test_it_solves_held_out_problems(model, task):
    problems = held_out(task, "test", 32)
    prompts = [problem.prompt for problem in problems]
    answers = focore.generate(model, prompts, method="confidence", gen_length=32)
    right = [correct(p, a.text) for p, a in zip(problems, answers, strict=True)]
    assert sum(right) / len(right) >= FLOORS[task]


def test_it_ends_its_answers(model):
    answer = focore.generate(model, held_out("countdown", "test", 1)[0].prompt, gen_length=64)
    assert len(answer.tokens) == 64
    assert answer.tokens[-1] in model.end_ids
    assert len(answer.text.splitlines()) == 3
