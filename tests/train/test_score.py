"""Scoring of answers."""

import pytest

from focore.expressions import makes
from focore.train.problem import Problem
from focore.train.score import correct

NUMBERS = [30, 100, 93]
WORDS = Problem("words", "Ann has 3 eggs ...", "3+4=7\nThe answer is 7", "")
COUNTDOWN = Problem("countdown", "Use 30, 100, 93 once each to make 23.", "", "")


@pytest.mark.parametrize("expression", ["30-(100-93)", "(93+30)-100", "93 + 30 - 100"])
def test_right_expressions(expression):
    assert makes(expression, NUMBERS, 23)


@pytest.mark.parametrize(
    "expression",
    ["23", "30-100+92", "30-(100-93)+0", "(30-100", "", "30-100-93", "30**100*93", "9330-100",
     "__import__('os')", "30/(100-100)*93", "x+30+100+93"],
)  # fmt: skip
def test_wrong_expressions(expression):
    assert not makes(expression, NUMBERS, 23)


def test_only_the_last_line_counts():
    assert correct(COUNTDOWN, "nonsense\n30-(100-93)\n")
    assert not correct(COUNTDOWN, "30-(100-93)\nnonsense")
    assert correct(WORDS, "1+1=3\nThe answer is 7")
    assert not correct(WORDS, "3+4=7\nThe answer is 77")
    assert not correct(WORDS, "")
