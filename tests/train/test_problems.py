"""The generated problems: right, apart, and the same every time."""

import json
import random
import re
from itertools import permutations
from pathlib import Path

import pytest

from focore.errors import OptionError
from focore.train import countdown
from focore.train.arithmetic import equation
from focore.train.problem import LARGEST, Problem, apply
from focore.train.problems import SPLITS, TASKS, held_out, sample, split
from focore.train.score import correct

EQUATION = re.compile(r"(\d+)([-+*/])(\d+)=(\d+)")


def drawn(task: str, part: str = "train", count: int = 400, seed: int = 1):
    rng = random.Random(seed)
    return [sample(task, part, rng) for _ in range(count)]


@pytest.mark.parametrize("task", TASKS)
def test_a_seed_gives_the_same_problems(task):
    assert drawn(task) == drawn(task)
    assert drawn(task) != drawn(task, seed=2)
    assert held_out(task, "test", 20) == held_out(task, "test", 20)


@pytest.mark.parametrize("task", TASKS)
def test_every_equation_is_right(task):
    for problem in drawn(task):
        *lines, last = problem.answer.split("\n")
        for line in lines:
            a, operator, b, c = EQUATION.fullmatch(line).groups()
            assert apply(int(a), operator, int(b)) == int(c)
        if task != "countdown":
            assert last == f"The answer is {lines[-1].split('=')[1]}"
        assert correct(problem, problem.answer)


@pytest.mark.parametrize("task", TASKS)
def test_all_numbers_are_single_tokens(task):
    for problem in drawn(task):
        numbers = [int(n) for n in re.findall(r"\d+", problem.prompt + " " + problem.answer)]
        assert max(numbers) <= LARGEST


@pytest.mark.parametrize("task", TASKS)
def test_splits_are_apart(task):
    keys = {part: {p.key for p in drawn(task, part, 200)} for part in SPLITS}
    assert not keys["train"] & keys["dev"]
    assert not keys["train"] & keys["test"]
    assert not keys["dev"] & keys["test"]


def test_every_given_number_comes_from_the_prompt():
    for problem in drawn("words"):
        known = {int(n) for n in re.findall(r"\d+", problem.prompt)} | {2}
        for a, _, b, c in EQUATION.findall(problem.answer):
            assert {int(a), int(b)} <= known
            known.add(int(c))


def test_permutations_share_a_split():
    for problem in drawn("countdown", "test", 20):
        numbers = [int(n) for n in problem.key.split()[1].split(",")]
        assert {split(countdown.key(order)) for order in permutations(numbers)} == {"test"}


def test_word_problems_are_varied():
    problems = drawn("words", count=2000)
    kinds = {p.key.rsplit(" ", 1)[0] for p in problems}
    steps = {p.answer.count("\n") for p in problems}
    shapes = {re.sub(r"\d+", "#", p.prompt) for p in problems}
    assert len(kinds) > 300
    assert steps == {1, 2, 3, 4}
    assert len(shapes) > 1800


def test_a_countdown_solution_uses_each_number_once():
    rng = random.Random(4)
    for _ in range(100):
        numbers = [rng.randint(1, 100) for _ in range(3)]
        for target, solution in countdown.solutions(numbers).items():
            problem = f"{solution.expression}".replace("/", "//")
            assert eval(problem) == target
            assert sorted(map(int, re.findall(r"\d+", solution.expression))) == sorted(numbers)


def test_countdown_prefers_sums():
    solution = countdown.solutions([30, 100, 93])[23]
    assert solution.simple
    assert countdown.answer(solution) == "100-93=7\n30-7=23\n30-(100-93)"


def test_drills_of_each_operator():
    rng = random.Random(0)
    drills = [equation(rng) for _ in range(800)]
    assert {operator for _, operator, _, _ in drills} == set("+-*/")
    assert all(apply(a, operator, b) == c for a, operator, b, c in drills)


def test_unknown_names_are_refused():
    with pytest.raises(OptionError, match="did you mean 'words'"):
        held_out("word", "test", 1)
    with pytest.raises(OptionError, match="unknown split"):
        held_out("words", "valid", 1)


def test_a_split_without_so_many_problems_is_said(monkeypatch):
    def few(rng: random.Random) -> Problem:
        return Problem("few", "", "", f"few {rng.randrange(400)}")

    monkeypatch.setitem(TASKS, "few", few)
    keys = [key for key in (f"few {n}" for n in range(400)) if split(key) == "dev"]
    assert {p.key for p in held_out("few", "dev", len(keys))} == set(keys)
    with pytest.raises(OptionError, match=f"ask for at most {len(keys)}$"):
        held_out("few", "dev", 5000)


@pytest.mark.shared
def test_the_public_countdown_test_is_in_no_split(shared: Path):
    lines = (shared / "data" / "countdown_cd3_test.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 256
    for row in rows:
        numbers = [int(n) for n in row["input"].split(",")]
        for order in permutations(numbers):
            assert split(countdown.key(order)) == "public"
    trained = {problem.key for problem in drawn("countdown", count=3000)}
    public = {countdown.key([int(n) for n in row["input"].split(",")]) for row in rows}
    assert not trained & public
