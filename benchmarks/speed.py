"""How long decoding takes beside the naive way, beside its bare passes, and beside the machine."""

from __future__ import annotations

import torch

from .figures import Figure, interleaved, matmul_peak, ratios, timed
from .memory import peak_apart
from .passes import recorded
from .shapes import (
    BALANCED,
    BLOCK,
    HEAVY,
    LENGTH,
    PROMPT,
    SHAPES,
    decoders,
    model_of,
    random_transformer,
)

METHODS = ("confidence", "focore")
PASSES_AT_MOST = {  # time over the bare passes, by shape and method
    (HEAVY, "confidence"): 1.05,
    (HEAVY, "focore"): 1.20,
    (BALANCED, "confidence"): 1.05,
    (BALANCED, "focore"): 1.10,
}


def exact_path(shape: str, steps: int, repeats: int) -> list[Figure]:
    """Speed-ups over the naive way, times over the bare passes, FoCore over confidence."""
    model, calls = model_of(shape), {}
    for method in METHODS:
        pair = decoders(shape, method, steps, model)
        passes = recorded(model, pair["ours"])
        if pair["ours"]() != pair["naive"]():
            raise SystemExit(f"{shape}, {method}: the naive code gives other tokens")
        calls[f"{method} naive"] = pair["naive"]
        calls[f"{method} ours"] = pair["ours"]
        calls[f"{method} passes"] = passes.replay
    seconds = interleaved(calls, repeats)
    found = []
    for method in METHODS:
        naive, ours, bare = (seconds[f"{method} {who}"] for who in ("naive", "ours", "passes"))
        least = 2.2 if shape == HEAVY else None
        found.append(Figure(f"{method}: naive / ours, time", ratios(naive, ours), least))
        most = PASSES_AT_MOST.get((shape, method))
        found.append(Figure(f"{method}: ours / bare passes, time", ratios(ours, bare), None, most))
    both = ratios(seconds["focore ours"], seconds["confidence ours"])
    return [*found, Figure("focore / confidence, time", both, None, _twice(shape))]


def _twice(shape: str) -> float | None:
    return 2.15 if shape == BALANCED else None


def memory(shape: str, repeats: int) -> list[Figure]:
    """Peak memory beyond the weights, ours over the naive one."""
    found = []
    for method in METHODS:
        pairs = [
            (peak_apart(shape, method, "ours"), peak_apart(shape, method, "naive"))
            for _ in range(repeats)
        ]
        share = [ours / naive for ours, naive in pairs]
        most = 0.1 if shape == HEAVY else None
        found.append(Figure(f"{method}: ours / naive, memory", share, None, most))
        found.append(Figure(f"{method}: ours, MB", [ours / 1e6 for ours, _ in pairs]))
    return found


def operations(shape: str, rows: int, length: int) -> float:
    """Multiplications and additions of a pass with the head everywhere, as matrix products."""
    c = SHAPES[shape]
    layer = c.width * (2 * c.heads + 2 * c.kv_heads) * c.head_width + 3 * c.width * c.mlp_width
    attention = 2 * length * c.width
    return 2.0 * rows * length * (c.layers * (layer + attention) + c.width * c.vocabulary)


def share_of_peak(shape: str, repeats: int, rows: int = 4) -> list[Figure]:
    """Bare forward passes, the head everywhere, as a share of the matrix products' rate."""
    model, length = random_transformer(SHAPES[shape]), PROMPT + LENGTH
    tokens = torch.randint(0, 900, (rows, length))

    @torch.inference_mode()
    def forward() -> None:
        model.head(model(tokens))

    forward()
    shares = []
    for _ in range(repeats):
        rate = operations(shape, rows, length) / min(timed(forward) for _ in range(3)) / 1e9
        shares.append(rate / matmul_peak(seconds=1.0))
    least = 0.7 if shape == BALANCED else None
    return [Figure(f"forward, batch {rows} / matrix products, rate", shares, least)]


def all_of(shape: str, steps: int, repeats: int) -> list[Figure]:
    """Every figure of one shape; `steps` at least one a block."""
    steps = max(steps, LENGTH // BLOCK)
    return [
        *exact_path(shape, steps, repeats),
        *memory(shape, 1),
        *share_of_peak(shape, repeats),
    ]
