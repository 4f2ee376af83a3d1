"""A run on disk: one safetensors file, written beside the old one and then renamed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as packed
from tokenizers import Tokenizer
from torch import Tensor

from ..errors import CheckpointError
from ..model import llada
from ..model.transformer import Transformer
from ..model.weights import SINGLE, their_name
from ..writing import write_whole
from . import tokenizer as text

STATE = "training.safetensors"
FORMAT = "focore training 1"

Tensors = dict[str, Tensor]


def write(path: Path, data: bytes) -> None:
    """Put `data` at `path`, in a new folder if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be written ({error.strerror or error})") from None


def save_state(folder: Path, tensors: Tensors, about: dict[str, Any]) -> None:
    """Write everything a run needs to go on."""
    metadata = {"format": FORMAT, "about": json.dumps(about)}
    write(folder / STATE, packed(tensors, metadata))


def load_state(folder: Path) -> tuple[Tensors, dict[str, Any]] | None:
    """What `save_state` wrote, or None if the folder is new."""
    path = folder / STATE
    if not path.exists():
        if any((folder / name).exists() for name in (SINGLE, "config.json")):
            raise CheckpointError(
                f"{folder}: holds a checkpoint without {STATE}; name another folder for the run"
            )
        return None
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                found = metadata.get("format", "no format")
                raise CheckpointError(f"{path}: key 'format' is {found!r}, expected {FORMAT!r}")
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            return tensors, json.loads(metadata["about"])
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{path}: not a complete training file ({error})") from None


def export(folder: Path, model: Transformer, tokenizer: Tokenizer) -> None:
    """Write an ordinary checkpoint: configuration, tokenizer, and weights in float16."""
    config = json.dumps(llada.fields(model.config), indent=2) + "\n"
    write(folder / "config.json", config.encode())
    for name, content in text.files(tokenizer).items():
        write(folder / name, content.encode())
    weights = {
        their_name(ours, llada.NAMES): slot.detach().to(torch.float16).contiguous().clone()
        for ours, slot in model.slots().items()
    }
    write(folder / SINGLE, packed(weights, {"format": "pt"}))
