"""Checkpoints on disk: safetensors only, filled tensor by tensor into an empty model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..errors import CheckpointError
from .transformer import Config, Transformer

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")

Names = Mapping[str, str]  # our name -> the checkpoint's, with {} for the layer


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file of a checkpoint."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: not readable as JSON ({error})") from None
    if not isinstance(value, dict):
        raise CheckpointError(f"{path}: expected a JSON object")
    return value


def shards(folder: Path) -> dict[str, Path]:
    """Which file holds each tensor of the checkpoint in `folder`."""
    if (folder / INDEX).exists():
        listed = read_json(folder / INDEX).get("weight_map")
        if not isinstance(listed, dict):
            raise CheckpointError(f"{folder / INDEX}: key 'weight_map' is missing")
        found = {str(key): folder / str(name) for key, name in listed.items()}
        for path in dict.fromkeys(found.values()):
            if not path.exists():
                raise CheckpointError(f"{path}: shard named in {INDEX} is missing")
        return found
    path = folder / SINGLE
    if path.exists():
        with opened(path) as file:
            return dict.fromkeys(file.keys(), path)
    pickled = sorted(p.name for pattern in PICKLES for p in folder.glob(pattern))
    if pickled:
        raise CheckpointError(
            f"{folder / pickled[0]}: pickled weights are not loaded; convert them to safetensors"
        )
    raise CheckpointError(f"{folder}: neither {SINGLE} nor {INDEX} is there")


def opened(path: Path) -> Any:
    """The safetensors file at `path`, open for reading."""
    try:
        return safe_open(path, framework="pt")
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: not a complete safetensors file ({error})") from None


def stored_dtype(folder: Path, key: str) -> torch.dtype:
    """The dtype in which a tensor is stored."""
    return _read(shards(folder), folder, key).dtype


def fill(
    config: Config, names: Names, folder: Path, dtype: torch.dtype, device: torch.device
) -> Transformer:
    """A transformer with the weights in `folder`.

    It is built without memory, given empty storage in the chosen dtype, and filled one tensor at a
    time. Each file is opened anew for each tensor: pages of a mapped file stay in memory until it
    is closed, and would double the peak.
    """
    with torch.device("meta"):
        model = Transformer(config)
    # Not `to_empty`: it makes PyTorch import its compiler, which takes a second.
    shapes = {name: slot.shape for name, slot in model.state_dict().items()}
    empty = {name: torch.empty(shapes[name], dtype=dtype, device=device) for name in shapes}
    model.load_state_dict(empty, assign=True)
    files = shards(folder)
    with torch.no_grad():
        for ours, slot in model.slots().items():
            theirs = their_name(ours, names)
            tensor = _read(files, folder, theirs)
            if tensor.shape != slot.shape:
                raise CheckpointError(
                    f"{files[theirs]}: {theirs} has shape {tuple(tensor.shape)}, "
                    f"config.json asks for {tuple(slot.shape)}"
                )
            slot.copy_(tensor)
    return model


def their_name(ours: str, names: Names) -> str:
    """The checkpoint's name of one of our weights."""
    if not ours.startswith("layers."):
        return names[ours]
    _, layer, rest = ours.split(".", 2)
    return names["layers.{}." + rest].format(layer)


def _read(files: Mapping[str, Path], folder: Path, key: str) -> Tensor:
    if key not in files:
        raise CheckpointError(f"{folder}: key {key} is missing")
    with opened(files[key]) as file:
        try:
            tensor: Tensor = file.get_tensor(key)
        except SafetensorError as error:
            raise CheckpointError(
                f"{files[key]}: key {key} is missing or damaged ({error})"
            ) from None
    return tensor
