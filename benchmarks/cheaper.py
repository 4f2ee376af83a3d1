"""What the options beyond the paper save in time: caches, and a contrast that spares its pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from focore.generation import Plan, Runner, row_seeds

from .figures import Figure, interleaved, ratios
from .shapes import BLOCK, model_of, random_prompt

PROMPT, LENGTH = 256, 256
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "focore": ("focore", {}),
    "confidence": ("confidence", {}),
    "focore, prefix cache": ("focore", {"cache": "prefix"}),
    "focore, dual cache": ("focore", {"cache": "dual"}),
    "focore_a, dual cache": ("focore_a", {"cache": "dual"}),
    "focore, auto, never sure": ("focore", {"contrast": "auto", "contrast_bound": 1.0}),
    "focore, auto, always sure": ("focore", {"contrast": "auto", "contrast_bound": 0.0}),
    "focore_a, auto, always sure, dual cache": (
        "focore_a",
        {"contrast": "auto", "contrast_bound": 0.0, "cache": "dual"},
    ),
}
AT_LEAST = {"focore, dual cache": 4.0, "focore_a, dual cache": 4.0}


def cheaper(shape: str, repeats: int, steps: int = BLOCK) -> list[Figure]:
    """Exact FoCore over each setting, in the first `steps` steps: one block, and all are alike."""
    model = model_of(shape)
    prompt = random_prompt(PROMPT, model)

    def first_steps(method: str, options: dict[str, Any]) -> Callable[[], None]:
        plan = Plan.make(model, method, 0, {"gen_length": LENGTH, "block_length": BLOCK, **options})
        row = plan.continuation(prompt, None)

        def run() -> None:
            runner = Runner(plan)
            runner.admit([row], row_seeds(0, [row]), [0])
            for _ in range(steps):
                if len(runner.batch):
                    runner.batch.step()

        return run

    seconds = interleaved({name: first_steps(*made) for name, made in SETTINGS.items()}, repeats)
    exact = seconds.pop("focore")
    return [
        Figure(f"exact focore / {name}, time", ratios(exact, own), AT_LEAST.get(name))
        for name, own in seconds.items()
    ]
