"""What the tests of evaluation share: a small model, and a folder of problems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import focore
from focore import Model
from tests.evaluate.small import write_small


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def model(checkpoint: Path) -> Model:
    return focore.load(str(checkpoint))


@pytest.fixture(scope="session")
def raw_model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A model without a chat template."""
    return focore.load(str(write_small(tmp_path_factory.mktemp("raw"), chat=False)))


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Problems of our own, in the benchmarks' formats."""
    folder = tmp_path_factory.mktemp("data")
    sums = [
        {"question": f"What is {n} + {n * n}?", "answer": f"#### {n + n * n}"} for n in range(12)
    ]
    (folder / "gsm8k_test.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in sums))
    games = [{"input": "1,2,3", "output": "6"}, {"input": "30,100,93", "output": "23"}]
    (folder / "countdown_cd3_test.jsonl").write_text("".join(json.dumps(g) + "\n" for g in games))
    program = {
        "task_id": 11,
        "text": "Double a number.",
        "code": "def double(x):\r\n    return 2 * x",
        "test_list": ["assert double(2) == 4", "assert double(3) == 6"],
        "test_setup_code": "",
    }
    (folder / "mbpp.jsonl").write_text(json.dumps(program) + "\n")
    return str(folder)
