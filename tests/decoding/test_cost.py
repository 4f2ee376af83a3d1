"""What a step costs, counted without a clock: passes, rows of the head, the largest tensor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import focore
from focore.generation import Plan, Runner
from focore.model import head
from focore.model.denoiser import Prediction
from focore.model.head import Top
from focore.model.transformer import Native
from tests.support import LLADA, random_transformer

VOCABULARY, ROWS_AT_ONCE = 4000, 4
CONFIG = replace(LLADA, vocabulary=VOCABULARY, mask_id=VOCABULARY - 2, end_ids=(VOCABULARY - 1,))


class Largest(TorchDispatchMode):
    """The number of elements of the largest tensor that is made."""

    def __init__(self, model: torch.nn.Module):
        super().__init__()
        self.known = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
        self.elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for value in made if isinstance(made, (tuple, list)) else [made]:
            dense = isinstance(value, torch.Tensor) and value.layout == torch.strided
            if dense and value.untyped_storage().data_ptr() not in self.known:
                self.elements = max(self.elements, value.numel())
        return made


class Operators(TorchDispatchMode):
    """How many operators are run."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("method", ["confidence", "cfg", "acfg", "klass", "threshold", "focore_a"])
def test_no_tensor_of_length_by_vocabulary(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for four rows of logits, nothing larger than that is ever made."""
    monkeypatch.setattr(head, "CHUNK", ROWS_AT_ONCE * VOCABULARY)
    transformer = random_transformer(CONFIG, 0, torch.float32)
    model = focore.Model("random", Native(transformer), None)
    options = {"divergence_top_k": 16} if method == "focore_a" else {}
    with Largest(transformer) as largest:
        focore.generate(
            model, [[1] * 20, [2] * 15], method=method, gen_length=12, block_length=6, **options
        )
    assert VOCABULARY <= largest.elements <= ROWS_AT_ONCE * VOCABULARY


def test_focore_asks_the_head_for_written_positions_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """First pass: written positions and the block's masks; second pass: the masks; and once more
    the positions written last, for their old normaliser."""
    asked: list[int] = []
    logits, top = Prediction.logits, Prediction.top

    def spy(self: Prediction, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        asked.append(len(row))
        return logits(self, row, position)

    def spy_top(self: Prediction, row: torch.Tensor, position: torch.Tensor, k: int) -> Top:
        asked.append(len(row))
        return top(self, row, position, k)

    monkeypatch.setattr(Prediction, "logits", spy)
    monkeypatch.setattr(Prediction, "top", spy_top)
    model = focore.Model("random", Native(random_transformer(LLADA, 0)), None)
    focore.generate(model, [1] * 9, method="focore", gen_length=3, block_length=3)
    first = [9, 3, 3]  # written; masks in both passes
    second = [1, 10, 2, 2]  # old normaliser of the one just written; ...
    third = [1, 11, 1, 1]
    assert asked == first + second + third


def operators(lengths: list[int], method: str, **options: Any) -> int:
    """Operators of the second step of rows with prompts of these lengths."""
    model = focore.Model("random", Native(random_transformer(LLADA, 0)), None)
    plan = Plan.make(model, method, 0, {"gen_length": 12, "cache": "none", **options})
    rows = [plan.continuation([1 + i] * n, None) for i, n in enumerate(lengths)]
    runner = Runner(plan)
    runner.admit(rows, list(range(len(rows))), list(range(len(rows))))
    runner.batch.step()
    with Operators() as seen:
        runner.batch.step()
    return seen.count


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("confidence", {}),
        ("klass", {}),
        ("acfg", {}),
        ("focore", {"tie_noise": 0.0}),
        ("focore_a", {"tie_noise": 0.0, "contrast": "auto", "contrast_bound": 1.0}),
        ("focore", {"tie_noise": 0.0, "cache": "dual"}),
    ],
)
def test_operators_of_a_step_do_not_grow_with_rows(method: str, options: dict[str, Any]) -> None:
    assert operators([5] * 2, method, **options) == operators([5] * 9, method, **options)


def test_noise_that_breaks_ties_costs_a_draw_a_row() -> None:
    """Each row has a generator of its own; beyond the draw and its padding nothing is by row."""
    two, nine = operators([5, 7], "focore"), operators([5, 7, 5, 6, 7, 3, 4, 5, 6], "focore")
    assert 0 < nine - two <= 2 * 7
