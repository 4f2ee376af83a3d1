"""A model that returns the reference answers scores 1, and one that damages them 0."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lm_eval import evaluate
from lm_eval.api.model import LM

from focore.expressions import evaluate as evaluate_expression
from focore.tasks import catalogue
from focore.train import TASKS

Answer = Callable[[dict[str, Any]], str]


class Knowing(LM):  # type: ignore[misc]
    """Answers by a function of the problem."""

    def __init__(self, answer: Answer):
        super().__init__()
        self.answer = answer

    def generate_until(self, requests: list[Any]) -> list[str]:
        return [self.answer(request.doc) for request in requests]

    def loglikelihood(self, requests: list[Any]) -> list[Any]:
        raise AssertionError

    def loglikelihood_rolling(self, requests: list[Any]) -> list[Any]:
        raise AssertionError


def accuracy(name: str, data: Path | None, answer: Answer, limit: int | None) -> tuple[float, int]:
    manager = catalogue.manager([name], None if data is None else os.fspath(data))
    tasks = catalogue.load(name, manager)
    found = evaluate(
        lm=Knowing(answer), task_dict={"tasks": tasks}, limit=limit, confirm_run_unsafe_code=True
    )
    (result,) = found["results"].values()
    (samples,) = found["samples"].values()
    return result["accuracy,none"], len(samples)


def solved(doc: dict[str, Any]) -> str:
    """By trying every expression of three numbers."""
    for a, b, c in itertools.permutations(doc["input"].split(",")):
        for first, second in itertools.product("+-*/", repeat=2):
            for text in (f"({a}{first}{b}){second}{c}", f"{a}{first}({b}{second}{c})"):
                with contextlib.suppress(ZeroDivisionError):
                    if evaluate_expression(text)[0] == int(doc["output"]):
                        return f"We try.\n{text} = {doc['output']}"
    raise AssertionError(doc)


REFERENCES: dict[str, tuple[Answer, int]] = {
    "gsm8k": (lambda doc: doc["answer"], 1319),
    "svamp": (lambda doc: f"The answer is {doc['Answer']}.", 1000),
    "math500": (lambda doc: doc["solution"], 500),
    "countdown": (solved, 256),
    "humaneval": (lambda doc: f"```python\n{doc['prompt']}{doc['canonical_solution']}\n```", 164),
    "mbpp": (lambda doc: f"```python\n{doc['code']}\n```\n[DONE]", 500),
}
CODE = ("humaneval", "mbpp")


@pytest.mark.shared
@pytest.mark.parametrize("name", REFERENCES)
def test_references(shared: Path, name: str) -> None:
    answer, count = REFERENCES[name]
    limit = 8 if name in CODE else None
    assert accuracy(name, shared / "data", answer, limit) == (1.0, limit or count)


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("name", CODE)
def test_all_programs(shared: Path, name: str) -> None:
    answer, count = REFERENCES[name]
    assert accuracy(name, shared / "data", answer, None) == (1.0, count)


@pytest.mark.shared
@pytest.mark.parametrize("name", REFERENCES)
def test_silence_scores_nothing(shared: Path, name: str) -> None:
    limit = 4 if name in CODE else 200
    assert accuracy(name, shared / "data", lambda doc: "", limit)[0] == 0.0


def test_countdown_is_asked_in_the_shipped_models_words(data: str) -> None:
    from focore.train.countdown import prompt

    (task,) = catalogue.load("countdown", catalogue.manager(["countdown"], data)).values()
    for doc in task.test_docs():
        numbers = [int(number) for number in doc["input"].split(",")]
        assert task.doc_to_text(doc) == prompt(numbers, int(doc["output"]))


@pytest.mark.parametrize("task", TASKS)
def test_the_shipped_models_tasks(task: str) -> None:
    name = f"focore_{task}"
    assert accuracy(name, None, lambda doc: doc["answer"], 20) == (1.0, 20)
    assert accuracy(name, None, lambda doc: doc["answer"] + "0", 5)[0] == 0.0
    assert accuracy(name, None, lambda doc: doc["answer"] + " I think.", 5)[0] == 0.0
