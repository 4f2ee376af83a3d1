"""The model before its first step."""

from __future__ import annotations

import math
import random
from functools import cache

import torch
from tokenizers import Tokenizer
from torch import nn

from ..model.transformer import Config, Transformer
from . import tokenizer as text
from .problem import LARGEST
from .problems import TASKS, sample
from .recipe import Recipe

MAX_LENGTH = 512
CORPUS = 4000  # problems of each task for the tokenizer
WAVES = 12  # cosines, and as many sines, of each number
AMPLITUDE = 0.1
ROPE_BASE = 1000.0  # texts are short: slower turns would tell nothing


@cache
def make_tokenizer(seed: int) -> Tokenizer:
    """A tokenizer for the text of all tasks, and for sums written with spaces."""
    rng = random.Random(f"tokenizer {seed}")
    problems = [sample(task, "train", rng) for task in TASKS for _ in range(CORPUS)]
    texts = [piece for p in problems for piece in (text.chat(p.prompt), p.answer)]
    texts += ["1 + 2 - 3 * 4 / 5 = 6"] * 100
    return text.build(texts)


def make_model(recipe: Recipe, tokenizer: Tokenizer) -> Transformer:
    """A transformer with its first weights, drawn from the recipe's seed."""
    model = Transformer(
        Config(
            width=recipe.width,
            layers=recipe.layers,
            heads=recipe.heads,
            kv_heads=recipe.heads,
            mlp_width=recipe.mlp_width,
            vocabulary=tokenizer.get_vocab_size(),
            max_length=MAX_LENGTH,
            mask_id=text.token(tokenizer, text.MASK),
            end_ids=(text.token(tokenizer, text.END),),
            rope_base=ROPE_BASE,
        )
    )
    noise = torch.Generator().manual_seed(recipe.seed)
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            nn.init.normal_(weight, std=_spread(name, weight.shape[1], recipe), generator=noise)
    _number_waves(model, text.numbers(tokenizer))
    return model


def _spread(name: str, fan_in: int, recipe: Recipe) -> float:
    """Standard deviation of the first weights; what is added to the residual starts small."""
    if not name.startswith("layers."):
        return 0.02
    depth = math.sqrt(2 * recipe.layers) if name.endswith(("out.weight", "down.weight")) else 1.0
    return 0.5 / math.sqrt(fan_in) / depth


@torch.no_grad()
def _number_waves(model: Transformer, ids: list[int]) -> None:
    """Start numbers as cosines and sines of their value: sums are then turns of the same waves."""
    count = min(WAVES, model.config.width // 4)
    periods = 2 * 1000 ** (torch.arange(count) / max(1, count - 1))
    angle = 2 * math.pi * torch.arange(LARGEST + 1)[:, None] / periods
    waves = AMPLITUDE * torch.cat((angle.cos(), angle.sin()), dim=1)
    for weight in (model.embedding.weight, model.head.weight):
        weight[torch.tensor(ids), : waves.shape[1]] = waves
