"""The package as it is published: complete, nothing else in it, and working from elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ("src", "tests", "docs", "examples", "benchmarks", "scripts")
ALONE = {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "mkdocs.yml", "Makefile"}
WRITTEN = {"PKG-INFO", ".gitignore"}  # by the build, or taken along by it


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive, built with what is installed."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr or ran.stdout
    return folder


def kept(folder: str) -> set[str]:
    """The files of a folder that belong to the project, by their place in it."""
    passing = ("__pycache__", ".pyc", ".egg-info")
    paths = (p for p in (ROOT / folder).rglob("*") if p.is_file())
    names = {p.relative_to(ROOT).as_posix() for p in paths}
    return {name for name in names if not any(part in name for part in passing)}


def test_the_wheel_has_the_package_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == {name.removeprefix("src/") for name in kept("src")}
    for kind in (".safetensors", "tokenizer.json", ".yaml", ".html", ".js", ".css", "py.typed"):
        assert any(name.endswith(kind) for name in names), kind


def test_the_source_archive_has_all_that_the_tests_need(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    expected = set().union(*map(kept, SHIPPED)) | ALONE
    assert names - WRITTEN == expected


def test_the_wheel_works_from_elsewhere(built: Path, tmp_path: Path) -> None:
    """Installed into a folder of its own, run from another, with the model that it carries."""
    target, home = tmp_path / "target", tmp_path / "home"
    home.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    wheel = str(next(built.glob("*.whl")))
    subprocess.run([*pip, "--target", str(target), wheel], check=True, capture_output=True)
    command = [sys.executable, str(target / "bin" / "focore"), "generate", "What is 65+18?"]
    command += ["--method", "threshold", "--gen-length", "16", "--json"]
    alone = {**os.environ, "PYTHONPATH": str(target), "HOME": str(home), "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(command, cwd=home, env=alone, capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stderr == "", ran.stderr
    made = json.loads(ran.stdout)
    assert len(made["tokens"]) == 16 and made["text"]
    where = [sys.executable, "-c", "import focore; print(focore.__file__)"]
    found = subprocess.run(where, cwd=home, env=alone, capture_output=True, text=True, check=True)
    assert found.stdout.startswith(str(target))
    assert not list(home.iterdir())  # nothing is left behind
