"""What a number depends on."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..loading import Model
from ..version import __version__

PACKAGES = ("torch", "transformers", "tokenizers", "lm_eval", "math-verify", "datasets")
WEIGHTS = ("*.safetensors", "*.json", "*.model", "*.txt", "*.jinja")


def versions() -> dict[str, str]:
    """The versions that results rest on."""
    found = {"focore": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return found


def model_record(model: Model) -> dict[str, Any]:
    """A model by what it is, not only by its name."""
    return {
        "model": model.name,
        "weights": weights_hash(model.folder),
        "dtype": str(model.denoiser.dtype).removeprefix("torch."),
        "device": model.denoiser.device.type,
    }


@cache
def weights_hash(folder: Path | None) -> str | None:
    """SHA-256 over the checkpoint's files; None for a model that has none."""
    if folder is None:
        return None
    paths = sorted({path for pattern in WEIGHTS for path in folder.glob(pattern)})
    total = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            total.update(f"{path.name}:{hashlib.file_digest(file, 'sha256').hexdigest()};".encode())
    return total.hexdigest()


def git_commit() -> str | None:
    """The commit of the checkout that focore runs from, if it does."""
    package = Path(__file__).resolve().parents[1]
    if not _git(package, "ls-files", "version.py"):  # installed inside somebody else's checkout
        return None
    return _git(package, "rev-parse", "HEAD") or None


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip()


def hash_of(*texts: str) -> str:
    """SHA-256 of texts, in order."""
    total = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()
