"""How long decoding takes beside the naive way and beside the bare passes it needs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

import focore
from focore.model.denoiser import Prediction
from focore.model.transformer import Config, Native, Transformer

from . import naive

PROMPT, LENGTH, BLOCK = 128, 128, 32
SHAPES = {
    "vocabulary-heavy": Config(512, 8, 8, 8, 1536, 126_464, 1024, 126_463),
    "8B-like": Config(512, 16, 8, 8, 1536, 8_192, 1024, 8_191),
}


@dataclass(frozen=True)
class Ratio:
    """A ratio of times measured side by side."""

    name: str
    values: list[float]
    target: str

    def line(self) -> str:
        spread = f"{min(self.values):.2f}-{max(self.values):.2f}"
        median = statistics.median(self.values)
        return f"| {self.name} | {median:.2f} | {spread} | {self.target} |"


def random_transformer(config: Config, seed: int = 0) -> Transformer:
    """A model with weights large enough for confident predictions."""
    torch.manual_seed(seed)
    model = Transformer(config).requires_grad_(False).eval()
    model.embedding.weight.normal_(0, 1)
    model.head.weight.normal_(0, 0.2)
    return model


def timed(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def matmul_peak(size: int = 1024, seconds: float = 2.0) -> float:
    """The machine's own float32 matrix products, in GFLOP/s."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    rates = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        rates.append(2 * size**3 / timed(lambda: a @ b) / 1e9)
    return max(rates)


@dataclass
class Recorder:
    """The passes of a run: canvases, and how many rows of each the head was applied to."""

    canvases: list[Tensor]
    asked: list[list[tuple[Tensor, Tensor]]]

    def replay(self, model: Transformer) -> None:
        """The same passes and the same head, and nothing else."""
        with torch.inference_mode():
            for canvas, asked in zip(self.canvases, self.asked, strict=True):
                hidden = model(canvas)
                for row, position in asked:
                    model.head(hidden[row, position])


def recorded(model: focore.Model, call: Callable[[], object]) -> Recorder:
    """Run `call` and keep what it asked the model for."""
    record = Recorder([], [])
    denoiser = model.denoiser
    assert isinstance(denoiser, Native)
    predict, logits = denoiser.predict, Prediction.logits
    known: dict[int, int] = {}

    def spy_predict(tokens: Tensor, valid: Tensor | None, memories: object = None) -> Prediction:
        record.canvases.append(tokens.clone())
        record.asked.append([])
        made = predict(tokens, valid)
        known[made.hidden.data_ptr()] = len(record.asked) - 1
        return made

    def spy_logits(self: Prediction, row: Tensor, position: Tensor) -> Tensor:
        place = known.get(self.hidden.data_ptr(), len(record.asked) - 1)
        record.asked[place].append((row, position))
        return logits(self, row, position)

    denoiser.predict = spy_predict  # type: ignore[method-assign, assignment]
    Prediction.logits = spy_logits  # type: ignore[method-assign]
    try:
        call()
    finally:
        del denoiser.predict
        Prediction.logits = logits  # type: ignore[method-assign]
    return record


def against_naive(shape: str, steps: int, repeats: int) -> list[Ratio]:
    """Speed-ups over the naive way, and times over the bare passes."""
    transformer = random_transformer(SHAPES[shape])
    model = focore.Model(shape, Native(transformer), None)
    prompt = torch.randint(0, 8000, (PROMPT,)).tolist()
    options = {"gen_length": LENGTH, "block_length": BLOCK, "steps": steps}
    found: list[Ratio] = []
    times: dict[str, list[float]] = {}
    for method in ("confidence", "focore"):
        own = {"tie_noise": 0.0} if method == "focore" else {}

        def ours(method: str = method, own: dict[str, float] = own) -> list[int]:
            return focore.generate(model, prompt, method=method, **options, **own).tokens

        def theirs(method: str = method) -> list[int]:
            return getattr(naive, method)(transformer, prompt, LENGTH, BLOCK, steps)

        record = recorded(model, ours)
        assert ours() == theirs(), f"{method} does not give the naive tokens"
        rounds = [
            (timed(theirs), timed(ours), timed(lambda r=record: r.replay(transformer)))
            for _ in range(repeats)
        ]
        times[method] = [own for _, own, _ in rounds]
        found.append(
            Ratio(f"{shape}: naive / ours, {method}", [n / o for n, o, _ in rounds], ">= 2.2")
        )
        found.append(Ratio(f"{shape}: ours / passes, {method}", [o / b for _, o, b in rounds], ""))
    pairs = zip(times["focore"], times["confidence"], strict=True)
    found.append(Ratio(f"{shape}: focore / confidence", [a / b for a, b in pairs], ""))
    return found
