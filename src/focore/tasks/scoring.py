"""From an answer to a score: the `process_results` of the task files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..train.problem import Problem
from ..train.score import correct
from . import mathematics, numbers, sandbox
from .code import completed, imports_of, names_in, names_of, program
from .countdown import solves

Doc = Mapping[str, Any]
Score = dict[str, float]


def _score(right: bool) -> Score:
    return {"accuracy": float(right)}


def gsm8k(doc: Doc, results: Sequence[str]) -> Score:
    return _score(numbers.equal(results[0], doc["answer"].rpartition("####")[2].strip()))


def svamp(doc: Doc, results: Sequence[str]) -> Score:
    return _score(numbers.equal(results[0], doc["Answer"]))


def math500(doc: Doc, results: Sequence[str]) -> Score:
    return _score(mathematics.same(results[0], doc["solution"]))


def countdown(doc: Doc, results: Sequence[str]) -> Score:
    given = [int(number) for number in doc["input"].split(",")]
    return _score(solves(results[0], given, int(doc["output"])))


def held_out(doc: Doc, results: Sequence[str]) -> Score:
    """The shipped model's own tasks, by the rule that its training measures it with."""
    return _score(correct(Problem(**doc), results[0]))


def _tried(trial: sandbox.Trial) -> Score:
    sandbox.check()
    return _score(sandbox.run(trial).passed)


def humaneval(doc: Doc, results: Sequence[str]) -> Score:
    return _tried(humaneval_trial(doc, results[0]))


def humaneval_trial(doc: Doc, text: str) -> sandbox.Trial:
    """The check of a function; helpers that it uses come from the prompt, not from the answer."""
    name = doc["entry_point"]
    return sandbox.Trial(
        program=completed(doc["prompt"], text, name),
        given=doc["prompt"],
        names=[name],
        tests=[f"{doc['test']}\n\ncheck({name})"],
    )


def mbpp(doc: Doc, results: Sequence[str]) -> Score:
    return _tried(mbpp_trial(doc, results[0]))


def mbpp_trial(doc: Doc, text: str) -> sandbox.Trial:
    """The asserts of a problem; they see those names of the program that the reference defines.

    All other names keep their meaning: a program cannot give the asserts another `len`.
    """
    reference = doc["code"].replace("\r", "")
    asked = names_in("\n".join([doc["test_setup_code"], *doc["test_list"]]))
    names = [name for name in dict.fromkeys(names_of(reference)) if name in asked]
    tests = [doc["test_setup_code"], *doc["test_list"]]
    return sandbox.Trial(
        program=program(text, names).replace("\r", ""),
        given=imports_of(reference),
        names=names,
        tests=[test for test in tests if test.strip()],
    )
