"""Muon for the matrices of the layers, Adam for the rest; all in float32.

Muon (Jordan, 2024) steps along the orthogonalised momentum. PyTorch's own works in bfloat16
inside, which processors without such units emulate a hundred times slower.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..model.transformer import Transformer
from .recipe import Recipe

QUINTIC = (3.4445, -4.7750, 2.0315)  # drives all singular values near 1 in five rounds
MOMENTUM = 0.95
BETAS = (0.9, 0.98)
EPSILON = 1e-8


def orthogonal(matrix: Tensor) -> Tensor:
    """The nearest matrix whose singular values are all about 1, by Newton-Schulz rounds."""
    tall = matrix.shape[0] > matrix.shape[1]
    x: Tensor = matrix.T if tall else matrix
    x = x / (x.norm() + 1e-7)
    a, b, c = QUINTIC
    for _ in range(5):
        square = x @ x.T
        x = a * x + torch.addmm(square, square, square, beta=b, alpha=c) @ x
    back: Tensor = x.T if tall else x
    return back


class Optimizer:
    """The running moments of every weight, by name."""

    def __init__(self, model: Transformer, recipe: Recipe):
        self.recipe = recipe
        self.weights = dict(model.named_parameters())
        self.parts = _parts(model)
        self.moments: dict[str, Tensor] = {}
        for name, weight in self.weights.items():
            self.moments[f"first.{name}"] = torch.zeros_like(weight)
            if name not in self.parts:
                self.moments[f"second.{name}"] = torch.zeros_like(weight)

    @torch.no_grad()
    def step(self, count: int) -> None:
        """One step along the gradients, clipped; `count` steps came before."""
        nn.utils.clip_grad_norm_(self.weights.values(), self.recipe.clip)
        pace = self.recipe.pace(count)
        for name, weight in self.weights.items():
            assert weight.grad is not None
            if name in self.parts:
                self._muon(name, weight, weight.grad, pace)
            else:
                self._adam(name, weight, weight.grad, pace, count + 1)
            weight.grad = None

    def _muon(self, name: str, weight: Tensor, gradient: Tensor, pace: float) -> None:
        momentum = self.moments[f"first.{name}"].mul_(MOMENTUM).add_(gradient)
        ahead = gradient.add(momentum, alpha=MOMENTUM)
        parts = [
            orthogonal(part) * max(1.0, part.shape[0] / part.shape[1]) ** 0.5
            for part in torch.split(ahead, self.parts[name])
        ]
        rate = self.recipe.matrix_rate * pace
        weight.mul_(1 - rate * self.recipe.weight_decay).add_(torch.cat(parts), alpha=-rate)

    def _adam(self, name: str, weight: Tensor, gradient: Tensor, pace: float, count: int) -> None:
        low, high = BETAS
        first = self.moments[f"first.{name}"].lerp_(gradient, 1 - low)
        second = (
            self.moments[f"second.{name}"].mul_(high).addcmul_(gradient, gradient, value=1 - high)
        )
        scale = (second / (1 - high**count)).sqrt_().add_(EPSILON)
        rate = self.recipe.learning_rate * pace / (1 - low**count)
        weight.addcdiv_(first, scale, value=-rate)


def _parts(model: Transformer) -> dict[str, list[int]]:
    """The rows of the matrices fused in each weight of the layers: each is a matrix of its own."""
    config, found = model.config, {}
    sides = [config.heads * config.head_width, *[config.kv_heads * config.head_width] * 2]
    for index in range(config.layers):
        found[f"layers.{index}.qkv.weight"] = sides
        found[f"layers.{index}.out.weight"] = [config.width]
        found[f"layers.{index}.gate_up.weight"] = [config.mlp_width] * 2
        found[f"layers.{index}.down.weight"] = [config.width]
    return found
