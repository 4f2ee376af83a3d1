"""Small random models, checkpoints on disk, and denoisers with known answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from focore.loading import Model
from focore.model import dream, llada
from focore.model.denoiser import Prediction
from focore.model.transformer import Config, Native, Transformer
from focore.model.weights import their_name

LLADA = Config(
    width=32,
    layers=2,
    heads=4,
    kv_heads=4,
    mlp_width=48,
    vocabulary=40,
    max_length=128,
    mask_id=38,
    end_ids=(39,),
)
DREAM = replace(LLADA, kv_heads=2, qkv_bias=True, shifted=True)


def random_transformer(
    config: Config, seed: int, dtype: torch.dtype = torch.float64
) -> Transformer:
    """A transformer with weights large enough for its predictions to differ."""
    generator = torch.Generator().manual_seed(seed)
    model = Transformer(config).to(dtype)
    for name, weight in model.named_parameters():
        if "norm" not in name:
            scale = 1.0 if name == "embedding.weight" else 2.0 / weight.shape[-1] ** 0.5
            noise = torch.randn(weight.shape, generator=generator, dtype=torch.float64)
            weight.data = (noise * scale).to(dtype)
    return model


def random_model(config: Config = LLADA, seed: int = 0) -> Model:
    """A model in float64, where rounding decides nothing."""
    return Model("random", Native(random_transformer(config, seed)), None)


def dream_fields(config: Config) -> dict[str, object]:
    """Dream's config.json for one of our configurations."""
    return {
        "model_type": "Dream",
        "architectures": ["DreamModel"],
        "hidden_size": config.width,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "intermediate_size": config.mlp_width,
        "vocab_size": config.vocabulary,
        "max_position_embeddings": config.max_length,
        "mask_token_id": config.mask_id,
        "eos_token_id": config.end_ids[0],
        "rms_norm_eps": config.norm_epsilon,
        "rope_theta": config.rope_base,
        "hidden_act": "silu",
        "tie_word_embeddings": False,
    }


def write_checkpoint(
    folder: Path,
    config: Config = LLADA,
    seed: int = 0,
    shards: int = 1,
    dtype: torch.dtype = torch.float32,
) -> Transformer:
    """Write a random checkpoint in the official format of its family."""
    family = dream if config.shifted else llada
    model = random_transformer(config, seed, dtype)
    tensors = {
        their_name(ours, family.NAMES): slot.detach().clone().contiguous()
        for ours, slot in model.slots().items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    fields = dream_fields(config) if config.shifted else llada.fields(config)
    (folder / "config.json").write_text(json.dumps(fields))
    names = sorted(tensors)
    if shards == 1:
        save_file(tensors, folder / "model.safetensors")
        return model
    where = {}
    for shard in range(shards):
        file = f"model-{shard + 1:05d}-of-{shards:05d}.safetensors"
        part = {name: tensors[name] for name in names[shard::shards]}
        save_file(part, folder / file)
        where |= dict.fromkeys(part, file)
    index = {"metadata": {}, "weight_map": where}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return model


@dataclass
class Known:
    """A denoiser whose logits (rows, length, vocabulary) are a function of its tokens."""

    answer: Callable[[Tensor], Tensor]
    vocabulary: int = 12
    mask_id: int = 10
    end_ids: tuple[int, ...] = (11,)
    max_length: int = 512
    own_top_k: int | None = None
    calls: int = 0

    @property
    def device(self) -> torch.device:
        return torch.device("cpu")

    @property
    def dtype(self) -> torch.dtype:
        return torch.float32

    def predict(self, tokens: Tensor, valid: Tensor | None) -> Prediction:
        self.calls += 1
        logits = self.answer(tokens)
        assert logits.shape == (*tokens.shape, self.vocabulary)
        return Prediction(logits, torch.ones_like(tokens, dtype=torch.bool), None)


def known_model(answer: Callable[[Tensor], Tensor], **fields: object) -> Model:
    return Model("known", Known(answer, **fields), None)  # type: ignore[arg-type]


def constant(values: Sequence[float]) -> Callable[[Tensor], Tensor]:
    """The same logits everywhere."""
    return lambda tokens: torch.tensor(values).expand(*tokens.shape, len(values)).clone()
