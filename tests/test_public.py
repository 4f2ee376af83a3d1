"""The public surface, and what importing it costs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import focore

HEAVY = ["torch", "transformers", "numpy", "spacy", "ray", "lm_eval", "fastapi", "matplotlib"]


def test_only_public_names_are_listed() -> None:
    assert set(dir(focore)) == set(focore.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'generat'"):
        focore.generat  # noqa: B018


def test_import_waits_for_nothing_heavy() -> None:
    code = f"import sys, json, focore; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == []


def test_names_are_functions_even_after_their_modules_are_imported() -> None:
    code = (
        "import focore, focore.generation, focore.loading, focore.streaming\n"
        "print(callable(focore.generate), callable(focore.load), callable(focore.stream))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True"] * 3
