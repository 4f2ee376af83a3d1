"""Every example runs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import LLADA, write_checkpoint
from tests.tokenizers import write_tokenizer

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ON_ANY_MODEL = ["new_method.py"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model")
    config = replace(LLADA, vocabulary=320, mask_id=1, end_ids=(0,), max_length=512)
    write_checkpoint(path, config)
    write_tokenizer(path)
    return str(path)


@pytest.mark.parametrize("name", ON_ANY_MODEL)
def test_example(name: str, folder: str) -> None:
    command = [sys.executable, str(EXAMPLES / name), folder]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


def test_a_new_method_takes_part_in_everything(folder: str) -> None:
    sys.path.insert(0, str(EXAMPLES))
    try:
        import new_method

        import focore

        model = focore.load(folder)
        made = focore.generate(model, "Ann", method="patient", gen_length=12, threshold=0.0)
        assert made.steps < 12 and made.options["threshold"] == 0.0
        with pytest.raises(focore.OptionError, match="threshold=2"):
            focore.generate(model, "Ann", method="patient", gen_length=4, threshold=2)
        assert new_method.Patient.__doc__
    finally:
        focore.METHODS.pop("patient", None)
        sys.path.remove(str(EXAMPLES))
