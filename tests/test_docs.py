"""Documentation: generated pages are those of the code, links lead somewhere, code runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from focore.reference import PAGES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
TEXTS = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
RUN = ["README.md", "docs/tutorial.md", "docs/howto/method.md", "docs/howto/backbone.md"]
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FETCHED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"?(https?:)?//[^\s>]+")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES)
def test_a_generated_page_is_current(page: str) -> None:
    assert (DOCS / page).read_text() == PAGES[page](), "run `make docs`"


@pytest.mark.parametrize("path", TEXTS, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    for target in LINK.findall(path.read_text()):
        file, _, _ = target.partition("#")
        if file and not re.match(r"\w+:", file):
            assert (path.parent / file).exists(), f"{name_of(path)} links to {target}"


@pytest.mark.parametrize("page", RUN)
def test_code_of_a_page_runs(page: str, tmp_path: Path) -> None:
    """The blocks of a page are one program."""
    code = "\n".join(BLOCK.findall((ROOT / page).read_text()))
    assert code
    command = [sys.executable, "-W", "error", "-c", code]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr


def commands_in(text: str) -> Iterator[list[str]]:
    """The `focore` commands in the code of a page, each as its words."""
    fenced = False
    for line in text.replace("\\\n", " ").splitlines():
        fenced ^= line.startswith("```")
        for part in line.split("&&") if fenced or line.startswith("    ") else []:
            if re.match(r"\s*focore \w", part):
                yield shlex.split(part, comments=True)[1:]


@pytest.mark.parametrize("path", TEXTS, ids=name_of)
def test_commands_and_their_options_exist(path: Path) -> None:
    from typer.main import get_command

    from focore import cli

    known = vars(get_command(cli.app))["commands"]
    for name, *words in commands_in(path.read_text()):
        options = {o for p in known[name].params for o in (*p.opts, *p.secondary_opts)}
        said = {word.split("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
        assert said <= options, f"{name_of(path)}: focore {name} {said - options}"


def test_the_site_builds_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > len(TEXTS) - 1
    for page in pages:
        assert not FETCHED.search(page.read_text()), page.name


def test_every_direct_dependency_is_listed_with_its_bound() -> None:
    page = (DOCS / "dependencies.md").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for item in chain(project["dependencies"], *project["optional-dependencies"].values()):
        name = re.match(r"[\w-]+", item)
        assert name
        if name[0] != "focore":
            bound = item[name.end() :]
            row = re.search(rf"^\| {name[0]} \|.*$", page, re.MULTILINE)
            assert row and f"| {bound} |" in row[0], f"{item}: run `make licences`"
