"""What a step costs: a line through measured steps, or counted operations and bytes on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...model.transformer import Config

LLADA_8B = Config(
    width=4096,
    layers=32,
    heads=32,
    kv_heads=32,
    mlp_width=12_288,
    vocabulary=126_464,
    max_length=4096,
    mask_id=126_336,
)


@dataclass(frozen=True)
class Linear:
    """seconds = fixed + per_token x rows x length of the longest row."""

    fixed: float
    per_token: float

    def __call__(self, rows: int, length: int) -> float:
        return self.fixed + self.per_token * rows * length

    @classmethod
    def fit(cls, tokens: Sequence[int], seconds: Sequence[float]) -> Linear:
        """Least squares of the relative error, so that short steps count as much as long ones."""
        y = np.asarray(seconds, dtype=float)
        x = np.stack((np.ones_like(y), np.asarray(tokens, dtype=float)), axis=1)
        (fixed, per_token), *_ = np.linalg.lstsq(x / y[:, None], np.ones_like(y), rcond=None)
        return cls(float(fixed), float(per_token))


@dataclass(frozen=True)
class Gpu:
    """Peaks of a GPU, and the shares of them that are assumed to be reached."""

    flops: float  # a second, bfloat16, dense
    bandwidth: float  # bytes a second
    compute_share: float = 0.5
    bandwidth_share: float = 0.8


GPU = Gpu(flops=989e12, bandwidth=3.35e12)


@dataclass(frozen=True)
class Counted:
    """Seconds of a step from the operations and bytes of its passes, whichever takes longer.

    The head is applied to the masks of a block, (block + 1) / 2 of them on average; `scored`, as in
    FoCore, also to every other position of the first pass, which counts masks of later blocks that
    are not asked for. Attention keeps nothing in memory. Kernel launches are hidden behind the
    passes, which take milliseconds.
    """

    config: Config
    gpu: Gpu = GPU
    passes: int = 1
    scored: bool = False
    block: int = 32

    def __call__(self, rows: int, length: int) -> float:
        masks = rows * (self.block + 1) / 2
        first = self.seconds(rows, length, rows * length if self.scored else masks)
        return first + (self.passes - 1) * self.seconds(rows, length, masks)

    def seconds(self, rows: int, length: int, asked: float) -> float:
        """Of one pass, with the head at `asked` positions."""
        compute = self.flops(rows, length, asked) / (self.gpu.flops * self.gpu.compute_share)
        memory = self.traffic(rows, length, asked) / (self.gpu.bandwidth * self.gpu.bandwidth_share)
        return max(compute, memory)

    def flops(self, rows: int, length: int, asked: float) -> float:
        """Multiplications and additions of the matrix products."""
        c = self.config
        weights = c.layers * self._layer_weights() * rows * length
        attention = c.layers * 2 * c.heads * c.head_width * rows * length**2
        return 2 * (weights + attention + c.width * c.vocabulary * asked)

    def traffic(self, rows: int, length: int, asked: float) -> float:
        """Bytes: bfloat16 weights once, activations as often as they are touched, float32 logits.

        A token of a layer is touched 26 times at its width (norms, projections, rotation, attention
        and sums) and 8 times at that of the MLP; a logit is written once and read three times.
        """
        c = self.config
        weights = c.layers * self._layer_weights() + c.width * c.vocabulary
        touched = c.layers * (26 * c.width + 8 * c.mlp_width) * rows * length
        return 2 * (weights + touched) + 4 * 4 * c.vocabulary * asked

    def _layer_weights(self) -> int:
        c = self.config
        attention = (2 * c.heads + 2 * c.kv_heads) * c.head_width * c.width
        return attention + 3 * c.width * c.mlp_width
