"""From a folder or a Hub id to a denoiser."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import torch

from ..errors import CheckpointError, first_line
from . import dream, llada
from .config import Fields
from .denoiser import Denoiser
from .placement import choose_device, choose_dtype
from .transformer import Native
from .weights import fill, read_json, stored_dtype

FAMILIES = {"llada": llada, "Dream": dream}
SHIPPED = "tiny"
FILES = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja")


def locate(source: str | Path, revision: str | None = None) -> Path:
    """The folder of a checkpoint: the shipped model, a local folder, or a Hub id."""
    if source == SHIPPED:
        folder = Path(str(files("focore"))) / "checkpoints" / SHIPPED
        if not (folder / "config.json").exists():
            raise CheckpointError(
                "the shipped model 'tiny' is not in this build; "
                "name a checkpoint folder or a Hub id"
            )
        return folder
    path = Path(source).expanduser()
    if path.is_dir():
        return path
    if path.exists():
        raise CheckpointError(f"{path}: a file; name the folder of the checkpoint")
    return _from_hub(str(source), revision)


def _from_hub(name: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    patterns = list(FILES)
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=patterns))
    except HFValidationError:
        raise CheckpointError(f"{name}: no such folder, and not a Hub id") from None
    except HfHubHTTPError as error:
        said = first_line(error)
        raise CheckpointError(f"{name}: not a folder, and the Hub says: {said}") from None
    except LocalEntryNotFoundError:
        raise CheckpointError(
            f"{name}: not a folder, not in the Hub's cache, and the Hub cannot be reached"
        ) from None


def commit_of(folder: Path) -> str | None:
    """The commit of a checkpoint in the Hub's cache, where it is the name of the folder."""
    return folder.name if folder.parent.name == "snapshots" else None


def load_denoiser(folder: Path, dtype: str, device: str | torch.device) -> Denoiser:
    """The denoiser of the checkpoint in `folder`."""
    path = folder / "config.json"
    fields = Fields(path, read_json(path))
    kind = fields.values.get("model_type")
    where = choose_device(device)
    if kind in FAMILIES:
        family = FAMILIES[kind]
        config = family.config(fields)
        if config.mask_id >= config.vocabulary:
            raise CheckpointError(f"{path}: key 'mask_token_id' is beyond the vocabulary")
        stored = stored_dtype(folder, family.NAMES["norm.weight"])
        precision = choose_dtype(dtype, stored, where)
        return Native(fill(config, family.NAMES, folder, precision, where))

    from . import masked_lm

    if kind in masked_lm.kinds():
        return masked_lm.load(folder, fields, dtype, where)
    raise CheckpointError(
        f"{path}: model_type {kind!r} is not supported; known are "
        f"{', '.join(FAMILIES)} and the masked LMs of transformers"
    )
