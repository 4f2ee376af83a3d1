"""Orders, schedules, samplers and the rules of the rivals, against answers worked out by hand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import focore
from focore.canvas import Canvas, blanks, continuation, highest, share_steps
from focore.decoding.schedules import dream, even
from tests.support import LLADA, constant, known_model, random_model

MODEL = random_model(LLADA)
MASK = 10


def by_position(rows: list[list[float]], start: int) -> focore.Model:
    """A model whose logits at the i-th position of the answer are row i."""

    def answer(tokens: Tensor) -> Tensor:
        logits = torch.zeros(*tokens.shape, 12)
        logits[:, start : start + len(rows), : len(rows[0])] = torch.tensor(rows)
        return logits

    return known_model(answer)


def order_of(model: focore.Model, method: str, length: int, **options: object) -> list[list[int]]:
    frames = focore.stream(model, [0], method=method, gen_length=length, **options)
    return [[position - 1 for position in frame.committed] for frame in frames]


def test_confidence_takes_the_surest_first() -> None:
    model = by_position([[1, 0, 0], [5, 0, 0], [3, 0, 0]], start=1)
    assert order_of(model, "confidence", 3) == [[1], [2], [0]]


def test_margin_and_confidence_differ() -> None:
    """The first position has the more probable token, the second the larger lead."""
    rows = [[4.0, 3.9] + [0.0] * 10, [3.5, 0.0] + [0.0] * 10]
    model = by_position(rows, start=1)
    assert order_of(model, "margin", 2) == order_of(model, "greedy", 2) == [[1], [0]]
    probabilities = torch.tensor(rows).softmax(dim=-1)
    expected = probabilities.amax(dim=-1).argsort(descending=True).tolist()
    assert [step[0] for step in order_of(model, "confidence", 2)] == expected


def test_entropy_takes_the_lowest_first() -> None:
    rows = [[2.0, 0.0] + [0.0] * 10, [2.0, -9.0] + [-9.0] * 10]
    assert order_of(by_position(rows, start=1), "entropy", 2) == [[1], [0]]


def test_ties_go_to_the_smaller_position() -> None:
    model = known_model(constant([0.0] * 12))
    assert order_of(model, "confidence", 4) == [[0], [1], [2], [3]]


def test_random_is_random_and_seeded() -> None:
    orders = {tuple(map(tuple, order_of(MODEL, "random", 8, seed=seed))) for seed in range(5)}
    assert len(orders) == 5
    assert order_of(MODEL, "random", 8, seed=1) == order_of(MODEL, "random", 8, seed=1)


@pytest.mark.parametrize(
    ("sizes", "steps", "shares"),
    [
        ([16, 16], 32, [16, 16]),
        ([16, 16, 8], 40, [16, 16, 8]),
        ([16, 16], 11, [6, 5]),
        ([16, 1], 2, [1, 1]),
        ([8, 0, 8], 6, [3, 0, 3]),
        ([5], 9, [9]),
        ([], 4, []),
    ],
)
def test_steps_are_shared_by_size(sizes: list[int], steps: int, shares: list[int]) -> None:
    assert share_steps(sizes, steps) == shares


def test_too_few_steps_for_the_blocks() -> None:
    with pytest.raises(focore.OptionError, match="steps=2 is too few for 3 blocks"):
        focore.generate(MODEL, [1], gen_length=9, block_length=3, steps=2)


def counts(schedule: str, length: int, steps: int) -> list[int]:
    model = known_model(constant([0.0] * 12), max_length=2048)
    options = {"schedule": schedule, "steps": steps, "block_length": length}
    return [len(step) for step in order_of(model, "confidence", length, **options)]


def test_even_schedule_gives_the_first_steps_more() -> None:
    assert counts("even", 10, 4) == [3, 3, 2, 2]
    assert counts("even", 4, 9) == [1, 1, 1, 1]


@pytest.mark.parametrize("length", [128, 256])
def test_dreams_schedule_has_its_quirks(length: int) -> None:
    """With steps = length it commits nothing first and two last."""
    assert counts("dream", length, length) == [0, *[1] * (length - 2), 2]
    assert counts("dream", length, length // 2) == [1, *[2] * (length // 2 - 2), 3]


def test_dreams_schedule_has_no_blocks_unless_asked() -> None:
    made = focore.generate(MODEL, [1], method="confidence", gen_length=48, schedule="dream")
    assert made.options["block_length"] == 48
    assert focore.generate(MODEL, [1], gen_length=48).options["block_length"] == 32


def test_origin_releases_as_many_as_expected() -> None:
    model = known_model(constant([0.0] * 12), max_length=2048)
    total = [len(s) for s in order_of(model, "origin", 1000, steps=4, block_length=1000)]
    assert sum(total) == 1000
    assert all(200 < count < 300 for count in total)


def test_threshold_commits_all_that_is_sure() -> None:
    rows = [[9.0, 0.0], [1.0, 0.0], [9.0, 0.0], [1.1, 0.0]]
    model = by_position([row + [-9.0] * 10 for row in rows], start=1)
    assert order_of(model, "threshold", 4, threshold=0.99) == [[0, 2], [3], [1]]


def test_factor_follows_the_joint_doubt() -> None:
    """Probabilities 0.9, 0.8, 0.6: (r + 1)(1 - p) is 0.2, 0.6, 1.6."""
    rows = [[p, (1 - p) / 2, (1 - p) / 2] for p in (0.6, 0.9, 0.8)]
    logits = [[*torch.tensor(row).log().tolist(), *[-30.0] * 9] for row in rows]
    model = by_position(logits, start=1)
    assert order_of(model, "factor", 3, factor=0.1) == [[1], [2], [0]]
    assert order_of(model, "factor", 3, factor=0.7) == [[1, 2], [0]]
    assert order_of(model, "factor", 3, factor=1.7) == [[0, 1, 2]]


def test_klass_waits_for_its_history() -> None:
    """A model that never moves is stable once the block has been seen twice."""
    model = known_model(constant([9.0] + [0.0] * 11))
    steps = order_of(model, "klass", 8, block_length=4, confidence_threshold=0.5)
    assert steps == [[0], [1], [2, 3], [4], [5, 6, 7]]


def test_prophet_fills_everything_once_the_answer_is_clear() -> None:
    model = by_position([[0.0] * 12] * 4 + [[8.0] + [0.0] * 11] * 2, start=1)
    assert len(order_of(model, "prophet", 6, answer_start=4, answer_length=2)) == 1
    assert len(order_of(model, "prophet", 6, answer_start=0, answer_length=2)) == 6
    assert len(order_of(model, "prophet", 6)) == 6
    after = order_of(model, "prophet", 6, fixed={3: [2]})
    assert len(after) == 1 and after[0] == [0, 1, 2, 4, 5]


def test_prophets_threshold_falls() -> None:
    """A gap of 6 is not enough in the first third of the steps, but is in the second."""
    model = by_position([[6.0] + [0.0] * 11] * 9, start=1)
    assert len(order_of(model, "prophet", 9, answer_start=0)) == 3


def test_acfg_hides_the_least_sure_generated_tokens() -> None:
    frames = list(focore.stream(MODEL, [1, 2], method="acfg", gen_length=10, remask_ratio=0.5))
    hidden = [sum(frame.notes["hidden"]) for frame in frames]
    assert hidden == [0, 1, 1, 1, 2, 2, 3, 3, 4, 4]
    assert [frame.passes for frame in frames] == [1] + [2] * 9
    assert not any(any(frame.notes["hidden"][:2]) for frame in frames)


def test_cfg_hides_all_that_was_given() -> None:
    frames = list(
        focore.stream(MODEL, [1, 2], method="cfg", gen_length=5, fixed={1: [7]}, block_length=5)
    )
    assert [i for i, hide in enumerate(frames[-1].notes["hidden"]) if hide] == [0, 1, 3]


def test_soar_searches_where_unsure() -> None:
    """The surest position first leads astray; the second beam earns more."""

    def answer(tokens: Tensor) -> Tensor:
        logits = torch.zeros(*tokens.shape, 12)
        logits[:, 1, 0], logits[:, 2, 1] = 2.0, 1.9
        rich = (tokens[:, 2] == 1) & (tokens[:, 1] == MASK)
        logits[:, 1, 0] = torch.where(rich, 9.0, logits[:, 1, 0])
        logits[:, 2, 1] = torch.where(tokens[:, 1] == 0, 0.5, logits[:, 2, 1])
        return logits

    model = known_model(answer)
    assert order_of(model, "confidence", 2) == [[0], [1]]
    made = focore.generate(model, [3], method="soar", gen_length=2, beam_width=2)
    assert made.tokens == [0, 1] and made.passes == 3
    narrow = focore.generate(model, [3], method="soar", gen_length=2, beam_width=1)
    assert narrow.passes == 2


def test_soar_accelerates_where_sure() -> None:
    model = known_model(constant([9.0] + [0.0] * 11))
    made = focore.generate(model, [1], method="soar", gen_length=12, max_parallel=5)
    assert made.steps == made.passes == 3
    assert focore.generate(model, [1], method="hybrid", gen_length=12).method == "soar"


def test_suppressed_ends_leave_the_distribution() -> None:
    model = known_model(constant([1.0, 0.0, *[-9.0] * 9, 8.0]))
    first = next(iter(focore.stream(model, [1], method="confidence", gen_length=3)))
    assert first.tokens[1:].count(11) == 1
    kept = next(
        iter(focore.stream(model, [1], method="confidence", gen_length=3, suppress_eos=True))
    )
    expected = torch.tensor([1.0, 0.0, *[-9.0] * 9]).softmax(dim=0)[0].item()
    assert kept.confidence[1] == pytest.approx(expected)


def test_deferred_ends_come_last() -> None:
    rows = [[1.0, *[0.0] * 10, 8.0], [2.0, *[0.0] * 10, 0.0], [1.0, *[0.0] * 10, 0.0]]
    model = by_position(rows, start=1)
    assert order_of(model, "confidence", 3) == [[0], [1], [2]]
    assert order_of(model, "confidence", 3, defer_eos=True) == [[1], [2], [0]]
    assert order_of(model, "random", 3, defer_eos=True)[-1] == [0]


def test_stop_at_eos_ends_a_row_and_fills_the_rest() -> None:
    rows = [[5.0] + [0.0] * 11, [0.0] * 11 + [4.0], *[[0.0, 1.0] + [0.0] * 10] * 6]
    model = by_position(rows, start=1)
    made = focore.generate(model, [3], method="confidence", gen_length=8, stop_at_eos=True)
    assert made.tokens == [0] + [11] * 7 and made.steps == 2
    whole = focore.generate(model, [3], method="confidence", gen_length=8)
    assert whole.tokens == [0, 11, 1, 1, 1, 1, 1, 1] and whole.steps == 8


def test_an_end_token_of_the_prompt_stops_nothing() -> None:
    model = known_model(constant([1.0] + [0.0] * 11))
    made = focore.generate(model, [11, 3], method="confidence", gen_length=4, stop_at_eos=True)
    assert made.steps == 4


def test_temperature_draws_by_probability() -> None:
    model = known_model(constant([*torch.tensor([0.7, 0.2, 0.1]).log().tolist(), *[-40.0] * 9]))
    options = {"method": "confidence", "gen_length": 400, "block_length": 400, "steps": 1}
    made = focore.generate(model, [1], temperature=1.0, **options)
    share = [made.tokens.count(token) / 400 for token in range(3)]
    assert share == pytest.approx([0.7, 0.2, 0.1], abs=0.07)
    cold = focore.generate(model, [1], temperature=0.2, **options)
    assert cold.tokens.count(0) > 390


@pytest.mark.parametrize("cut", [{"top_k": 2}, {"top_p": 0.75}])
def test_a_cut_renormalises_at_temperature_zero(cut: dict[str, float]) -> None:
    model = known_model(constant([*torch.tensor([0.7, 0.2, 0.1]).log().tolist(), *[-40.0] * 9]))
    frame = next(iter(focore.stream(model, [1], method="confidence", gen_length=1, **cut)))
    assert frame.confidence[1] == pytest.approx(0.7 / 0.9)
    drawn = focore.generate(model, [1], method="confidence", gen_length=300, temperature=1.0, **cut)
    assert set(drawn.tokens) == {0, 1}


def test_highest_prefers_the_left_and_copes_with_infinity() -> None:
    score = torch.tensor([[-torch.inf, 1.0, 1.0, -torch.inf, 5.0]])
    among = torch.tensor([[True, True, True, True, False]])
    assert highest(score, torch.tensor([1]), among).nonzero()[:, 1].tolist() == [1]
    assert highest(score, torch.tensor([3]), among).nonzero()[:, 1].tolist() == [0, 1, 2]
    assert highest(score, torch.tensor([9]), among).nonzero()[:, 1].tolist() == [0, 1, 2, 3]


def test_a_canvas_knows_its_blocks() -> None:
    short = continuation([1, 2], 5, 2, 5, MASK, {0: [7]})
    gaps = blanks([MASK, 3, MASK, MASK], 2, None, MASK)
    canvas = Canvas.lay([short, gaps], torch.device("cpu"))
    assert canvas.block.tolist() == [[-1, -1, 0, 0, 1, 1, 2], [0, -1, 0, 1, -1, -1, -1]]
    assert canvas.budget.tolist() == [[2, 2, 1], [2, 1, 0]]
    assert canvas.open.nonzero().tolist() == [[0, 3], [1, 0], [1, 2]]
    assert even(canvas).tolist() == [1, 1] and dream(canvas).tolist() == [0, 0]
    later = canvas.write(torch.where(canvas.open, 5, canvas.tokens))
    assert later.current.tolist() == [1, 1] and later.block_step.tolist() == [0, 0]
    assert later.step.tolist() == [1, 1]
