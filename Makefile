# Everything runs from a virtual environment in .venv, made on first use.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test slow check bench docs clean

.venv/.installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	@touch $@

demo: .venv/.installed  ## one problem by two methods, live, then a small table
	$(BIN)/python examples/demo.py

test: .venv/.installed  ## the test suite, without what is marked slow
	$(BIN)/python -m pytest -m "not slow"

slow: .venv/.installed  ## the long checks
	$(BIN)/python -m pytest -m slow

check: .venv/.installed  ## lint and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.installed  ## speed, as ratios measured side by side
	$(BIN)/python -m benchmarks

docs: .venv/.installed  ## write the generated pages of docs/
	$(BIN)/python -m focore.reference docs

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build
