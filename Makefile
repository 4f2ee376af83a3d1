# Everything runs from a virtual environment in .venv, made on first use.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test slow check cover mutate lowest bench findings docs licences site clean

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

cover: .venv/.installed  ## the tests, and which lines of src they reach
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -m "not slow"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --show-missing

mutate:  ## changes to src/focore/decoding that no test notices, in .venv-mutate
	scripts/mutate

lowest:  ## the lowest versions of the core, words and plot, in .venv-lowest, and quick tests of these
	scripts/lowest

bench: .venv/.installed  ## speed, as ratios measured side by side
	$(BIN)/python -m benchmarks

findings: .venv/.installed  ## the paper's findings on the shipped model, into docs/findings.md
	$(BIN)/python -m benchmarks.findings

docs: .venv/.installed  ## write the generated pages of docs/
	$(BIN)/python -m focore.reference docs

licences: .venv/.installed  ## write docs/dependencies.md from what is installed
	$(BIN)/python scripts/licences.py

site: docs  ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

clean:
	rm -rf .venv .venv-lowest .venv-mutate site mutants .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build
