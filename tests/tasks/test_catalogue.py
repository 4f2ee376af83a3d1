"""The names of tasks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from focore import OptionError
from focore.tasks import catalogue


class Manager:
    """A task manager with one task, or with one that cannot be loaded."""

    def __init__(self, found: Any):
        self.found = found

    def load(self, names: list[str]) -> dict[str, Any]:
        if isinstance(self.found, Exception):
            raise self.found
        return {"tasks": {names[0]: self.found}}


def test_names() -> None:
    assert set(catalogue.ours()) == {
        "countdown", "focore_arithmetic", "focore_countdown", "focore_gsm8k", "focore_humaneval",
        "focore_mbpp", "focore_words", "math500", "svamp",
    }  # fmt: skip
    assert catalogue.full_name("gsm8k") == "focore_gsm8k"
    assert catalogue.full_name("svamp") == "svamp"
    assert {*catalogue.SHORT.values(), *catalogue.CODE} <= set(catalogue.ours())


def test_code_without_a_sandbox_is_refused() -> None:
    unsafe = SimpleNamespace(UNSAFE_CODE=True)
    assert catalogue.load("mbpp", Manager(unsafe)) == {"focore_mbpp": unsafe}
    with pytest.raises(OptionError, match="'mbpp_plus' runs generated code without a sandbox"):
        catalogue.load("mbpp_plus", Manager(unsafe))


def test_a_task_that_does_not_load_is_one_line() -> None:
    with pytest.raises(OptionError, match="'bbh' cannot be loaded: no network") as error:
        catalogue.load("bbh", Manager(RuntimeError("no network\nand more")))
    assert "\n" not in str(error.value)
    with pytest.raises(OptionError, match="is not there"):
        catalogue.load("gsm8k", Manager(OptionError("file is not there")))


def test_metrics() -> None:
    assert catalogue.metric_of({"metrics": ["f1", "exact_match"]}) == "exact_match"
    assert catalogue.metric_of({"metrics": ["f1"]}) == "f1"
