"""Any masked LM of transformers as a denoiser: BERT, ModernBERT, ESM and their like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..errors import CheckpointError, first_line
from .config import Fields
from .denoiser import Prediction
from .placement import DTYPES, choose_dtype
from .weights import INDEX, SINGLE


def kinds() -> frozenset[str]:
    """The model types that transformers has a masked LM for."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    return frozenset(MODEL_FOR_MASKED_LM_MAPPING_NAMES)


class MaskedLM:
    """A `Denoiser` on a transformers model.

    Its head is applied to every position: these models have small vocabularies, and their heads
    are not of one form.
    """

    def __init__(self, model: Any, mask_id: int, end_ids: tuple[int, ...], max_length: int):
        self.model = model.requires_grad_(False).eval()
        self.mask_id, self.end_ids, self.max_length = mask_id, end_ids, max_length
        self.vocabulary: int = model.config.vocab_size
        self.own_top_k: int | None = None

    @property
    def device(self) -> torch.device:
        device: torch.device = self.model.device
        return device

    @property
    def dtype(self) -> torch.dtype:
        dtype: torch.dtype = self.model.dtype
        return dtype

    def predict(self, tokens: Tensor, valid: Tensor | None) -> Prediction:
        everywhere = torch.ones_like(tokens, dtype=torch.bool)
        attend = (everywhere if valid is None else valid).long()
        logits = self.model(input_ids=tokens, attention_mask=attend).logits
        return Prediction(logits, everywhere, None)


def load(folder: Path, fields: Fields, dtype: str, device: torch.device) -> MaskedLM:
    """The masked LM in `folder`; no remote code, safetensors only."""
    from transformers import AutoModelForMaskedLM

    if not (folder / SINGLE).exists() and not (folder / INDEX).exists():
        raise CheckpointError(f"{folder}: neither {SINGLE} nor {INDEX} is there")
    stored = DTYPES.get(str(fields.values.get("dtype") or fields.values.get("torch_dtype")))
    precision = choose_dtype(dtype, stored or torch.float32, device)
    try:
        model = AutoModelForMaskedLM.from_pretrained(
            folder, dtype=precision, use_safetensors=True, local_files_only=True
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"{folder}: {first_line(error)}") from None
    mask_id = _special(folder, fields, "mask")
    if mask_id is None:
        raise CheckpointError(f"{fields.path}: key 'mask_token_id' is missing")
    end = _special(folder, fields, "eos") or _special(folder, fields, "sep")
    # Models of RoBERTa's kind count positions from the padding id on.
    offset = (fields.values.get("pad_token_id") or 0) + 1 if _counts_from_pad(fields) else 0
    length = fields.whole("max_position_embeddings") - offset
    return MaskedLM(model.to(device), mask_id, () if end is None else (end,), length)


def _counts_from_pad(fields: Fields) -> bool:
    kind = str(fields.values.get("model_type"))
    absolute = fields.values.get("position_embedding_type", "absolute") == "absolute"
    return absolute and (kind == "esm" or "roberta" in kind)


def _special(folder: Path, fields: Fields, name: str) -> int | None:
    """The id of a special token, from config.json or from the tokenizer's files."""
    value = fields.values.get(f"{name}_token_id")
    if value is not None:
        return int(value)
    config = folder / "tokenizer_config.json"
    if not config.exists():
        return None
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    found = getattr(tokenizer, f"{name}_token_id")
    return None if found is None else int(found)
