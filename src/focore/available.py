"""The checkpoints that are at hand without a download."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from .errors import CheckpointError
from .model.checkpoint import FAMILIES, SHIPPED, locate
from .model.weights import read_json


def available() -> list[dict[str, str]]:
    """The shipped model, and the LLaDA and Dream checkpoints in the Hub's cache."""
    found = []
    try:
        folder = locate(SHIPPED)
        found.append({"name": SHIPPED, "family": _family(folder), "where": "shipped"})
    except CheckpointError:
        pass  # a build without the shipped model
    return found + _cached()


def _cached() -> list[dict[str, str]]:
    from huggingface_hub import constants, scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repos = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except CacheNotFound:
        return []
    rows = {}
    models = [repo for repo in repos if repo.repo_type == "model"]
    for repo in models:
        for revision in repo.revisions:
            with suppress(CheckpointError):  # a broken one is not at hand; others are
                if family := _family(Path(revision.snapshot_path)):
                    name = repo.repo_id
                    rows[name] = {"name": name, "family": family, "where": "Hub cache"}
    return [rows[name] for name in sorted(rows)]


def _family(folder: Path) -> str:
    """The family of a checkpoint folder, or nothing if we have none for it."""
    path = folder / "config.json"
    kind = str(read_json(path).get("model_type")) if path.exists() else ""
    return kind if kind in FAMILIES else ""
