"""One bidirectional transformer for LLaDA, Dream and the shipped model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .denoiser import KeyValues, Prediction
from .head import Head


@dataclass(frozen=True)
class Config:
    """Sizes and constants of a checkpoint."""

    width: int
    layers: int
    heads: int
    kv_heads: int
    mlp_width: int
    vocabulary: int
    max_length: int
    mask_id: int
    end_ids: tuple[int, ...] = ()
    norm_epsilon: float = 1e-5
    rope_base: float = 500_000.0
    qkv_bias: bool = False
    shifted: bool = False  # the output at i scores the token at i + 1 (Dream)
    own_top_k: int | None = None  # what Dream's own generation cuts to

    @cached_property
    def head_width(self) -> int:
        return self.width // self.heads


class Norm(nn.Module):
    """RMSNorm: normalised in float32 at least, then cast, then scaled."""

    def __init__(self, width: int, epsilon: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        if x.dtype in (torch.float32, torch.float64):
            return F.rms_norm(x, x.shape[-1:], self.weight, self.epsilon)
        wide = F.rms_norm(x.float(), x.shape[-1:], None, self.epsilon)
        return wide.to(x.dtype) * self.weight


def rotation(positions: Tensor, config: Config, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosines and sines (rows or 1, 1, n, head width) of the rotary embedding."""
    dtype = torch.promote_types(dtype, torch.float32)
    exponent = torch.arange(0, config.head_width, 2, device=positions.device, dtype=dtype)
    frequency = 1.0 / (config.rope_base ** (exponent / config.head_width))
    angle = positions[:, None, :, None].to(dtype) * frequency
    angle = torch.cat((angle, angle), dim=-1)
    return angle.cos(), angle.sin()


def rotate(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary embedding of x (rows, heads, n, head width), rotating halves."""
    cos, sin = turn
    wide = x.to(cos.dtype)
    left, right = wide.chunk(2, dim=-1)
    return (wide * cos + torch.cat((-right, left), dim=-1) * sin).to(x.dtype)


class Layer(nn.Module):
    """Pre-norm attention and gated MLP; q, k, v and gate, up are one matrix each."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        hidden = config.head_width
        self.parts = (config.heads * hidden, config.kv_heads * hidden, config.kv_heads * hidden)
        self.attention_norm = Norm(config.width, config.norm_epsilon)
        self.qkv = nn.Linear(config.width, sum(self.parts), bias=config.qkv_bias)
        self.out = nn.Linear(self.parts[0], config.width, bias=False)
        self.mlp_norm = Norm(config.width, config.norm_epsilon)
        self.gate_up = nn.Linear(config.width, 2 * config.mlp_width, bias=False)
        self.down = nn.Linear(config.mlp_width, config.width, bias=False)

    def forward(
        self, x: Tensor, turn: tuple[Tensor, Tensor], bias: Tensor | None, memory: KeyValues | None
    ) -> Tensor:
        rows, n, _ = x.shape
        q, k, v = (
            part.view(rows, n, -1, self.config.head_width).transpose(1, 2)
            for part in self.qkv(self.attention_norm(x)).split(self.parts, dim=-1)
        )
        q, k = rotate(q, turn), rotate(k, turn)
        if memory is not None:
            k, v = memory.update(k, v)
        grouped = self.config.kv_heads != self.config.heads
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, enable_gqa=grouped)
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, n, -1))
        gate, up = self.gate_up(self.mlp_norm(x)).chunk(2, dim=-1)
        result: Tensor = x + self.down(F.silu(gate) * up)
        return result

    def slots(self) -> dict[str, Tensor]:
        """Every weight by name, the fused ones as views of their parts."""
        found = {
            "attention_norm.weight": self.attention_norm.weight,
            "out.weight": self.out.weight,
            "mlp_norm.weight": self.mlp_norm.weight,
            "down.weight": self.down.weight,
        }
        found |= dict(zip(("gate.weight", "up.weight"), self.gate_up.weight.chunk(2), strict=True))
        for kind in ("weight", "bias") if self.config.qkv_bias else ("weight",):
            parts = getattr(self.qkv, kind).split(self.parts)
            found |= {f"{name}.{kind}": part for name, part in zip("qkv", parts, strict=True)}
        return found


class Transformer(nn.Module):
    """Tokens to hidden states, and the head that scores the vocabulary."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        rows = torch.empty(config.vocabulary, config.width)
        # Drawing numbers where there is no memory makes PyTorch import its compiler: a second.
        rows = rows if rows.is_meta else rows.normal_()
        self.embedding = nn.Embedding(config.vocabulary, config.width, _weight=rows)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = Norm(config.width, config.norm_epsilon)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)

    def forward(
        self,
        tokens: Tensor,
        valid: Tensor | None = None,
        positions: Tensor | None = None,
        memories: list[KeyValues] | None = None,
    ) -> Tensor:
        """Hidden states (rows, n, width) of tokens (rows, n).

        `valid` (rows, keys) says which keys may be attended to; None means all of them.
        `positions` (rows, n) places the tokens, by default at 0, 1, 2, ...
        `memories` holds one `KeyValues` per layer.
        """
        if positions is None:
            positions = torch.arange(tokens.shape[1], device=tokens.device)[None]
        x = self.embedding(tokens)
        turn = rotation(positions, self.config, x.dtype)
        bias = None if valid is None else valid[:, None, None, :]
        for index, layer in enumerate(self.layers):
            x = layer(x, turn, bias, memories[index] if memories else None)
        hidden: Tensor = self.norm(x)
        return hidden

    def slots(self) -> dict[str, Tensor]:
        """Every weight of the model by its name in the weight tables."""
        found = {
            "embedding.weight": self.embedding.weight,
            "norm.weight": self.norm.weight,
            "head.weight": self.head.weight,
        }
        for index, layer in enumerate(self.layers):
            assert isinstance(layer, Layer)
            found |= {f"layers.{index}.{name}": slot for name, slot in layer.slots().items()}
        return found


class Native:
    """A `Denoiser` on our own transformer."""

    def __init__(self, transformer: Transformer):
        self.transformer = transformer.requires_grad_(False).eval()
        config = transformer.config
        self.config = config
        self.mask_id, self.end_ids = config.mask_id, config.end_ids
        self.vocabulary, self.max_length = config.vocabulary, config.max_length
        self.own_top_k = config.own_top_k
        self.head = Head(transformer.head.weight)

    @property
    def device(self) -> torch.device:
        return self.transformer.head.weight.device

    @property
    def dtype(self) -> torch.dtype:
        return self.transformer.head.weight.dtype

    def predict(
        self, tokens: Tensor, valid: Tensor | None, memories: list[KeyValues] | None = None
    ) -> Prediction:
        """A full pass over tokens (rows, length)."""
        hidden = self.transformer(tokens, valid, memories=memories)
        return self._prediction(hidden, torch.ones_like(tokens, dtype=torch.bool))

    def predict_some(
        self, tokens: Tensor, valid: Tensor | None, fed: Tensor, memories: list[KeyValues]
    ) -> Prediction:
        """A pass over the positions `fed` (rows, n) only; the keys of the rest come from memory."""
        some = self.transformer(tokens.gather(1, fed), valid, fed, memories)
        hidden = some.new_zeros(*tokens.shape, some.shape[-1])
        hidden.scatter_(1, fed[..., None].expand_as(some), some)
        known = torch.zeros_like(tokens, dtype=torch.bool).scatter_(1, fed, True)
        return self._prediction(hidden, known)

    def needed(self, where: Tensor) -> Tensor:
        """The positions (rows, length) that must be fed to predict those of `where`."""
        if not self.config.shifted:
            return where
        before = torch.cat((where[:, 1:], torch.zeros_like(where[:, :1])), dim=1)
        return where | before

    def _prediction(self, hidden: Tensor, known: Tensor) -> Prediction:
        if self.config.shifted:
            # The first position has nothing before it and keeps its own output.
            hidden = torch.cat((hidden[:, :1], hidden[:, :-1]), dim=1)
            known = torch.cat((known[:, :1], known[:, :-1]), dim=1)
        return Prediction(hidden, known, self.head)
