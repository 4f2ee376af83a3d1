"""The shapes that speed is measured at, and the decoders that are compared there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import focore
from focore.model.transformer import Config, Native, Transformer

from . import naive

PROMPT, LENGTH, BLOCK = 128, 128, 32
HEAVY, BALANCED = "vocabulary-heavy", "8B-like"
SHAPES = {
    HEAVY: Config(512, 8, 8, 8, 1536, 126_464, 2048, 126_463),
    BALANCED: Config(512, 16, 8, 8, 1536, 8_192, 2048, 8_191),
    "small": Config(64, 2, 2, 2, 192, 1_000, 2048, 999),  # for trying out
}


def random_transformer(config: Config, seed: int = 0) -> Transformer:
    """A model with weights large enough for confident predictions, yet logits like a model's."""
    torch.manual_seed(seed)
    model = Transformer(config).requires_grad_(False).eval()
    model.embedding.weight.normal_(0, 1)
    model.head.weight.normal_(0, 0.2)
    return model


def model_of(shape: str) -> focore.Model:
    """A random model of one of the shapes."""
    return focore.Model(shape, Native(random_transformer(SHAPES[shape])), None)


def random_prompt(length: int, model: focore.Model, seed: int = 1) -> list[int]:
    """Ids other than [MASK], which is the last one."""
    generator = torch.Generator().manual_seed(seed)
    high = model.denoiser.vocabulary - 1
    return torch.randint(0, high, (length,), generator=generator).tolist()


def transformer_of(model: focore.Model) -> Transformer:
    assert isinstance(model.denoiser, Native)
    return model.denoiser.transformer


def decoders(
    shape: str, method: str, steps: int, model: focore.Model | None = None
) -> dict[str, Callable[[], list[int]]]:
    """The same decode by the library and by the naive code."""
    model = model or model_of(shape)
    prompt = random_prompt(PROMPT, model)
    options: dict[str, Any] = {"gen_length": LENGTH, "block_length": BLOCK, "steps": steps}
    if method == "focore":
        options["tie_noise"] = 0.0  # the naive code has none
    plain = getattr(naive, method)
    return {
        "ours": lambda: focore.generate(model, prompt, method=method, **options).tokens,
        "naive": lambda: plain(transformer_of(model), prompt, LENGTH, BLOCK, steps),
    }
