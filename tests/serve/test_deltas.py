"""Text becomes final from left to right, and never has to be taken back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from focore import METHODS
from focore.generation import Tally
from focore.loading import Model
from focore.serve.answers import Choice
from focore.serve.deltas import BROKEN, Growing
from focore.serve.tickets import News

ORDERS = st.randoms(use_true_random=False)


def grow(model: Model, ids: list[int], order: list[int], stops: list[str]) -> tuple[str, Growing]:
    """Write the tokens in some order; what was told on the way."""
    growing, canvas, told = Growing(model, stops), [model.mask_id] * len(ids), ""
    for count, place in enumerate(order, 1):
        canvas[place] = ids[place]
        told += growing.feed(list(canvas), count == len(ids))
        assert growing.text == told
        if growing.reason:
            break
    return told, growing


@given(
    text=st.text(st.sampled_from("ab€é😀 \n"), max_size=12),
    end=st.booleans(),
    stops=st.lists(st.text(st.sampled_from("ab€é😀"), min_size=1, max_size=3), max_size=3),
    random=ORDERS,
)
def test_any_order_tells_the_answer(
    model: Model, text: str, end: bool, stops: list[str], random: st.randoms
) -> None:
    assert model.text is not None
    ids = [*model.text.plain(text), *([model.end_ids[0], 70, 71] if end else []), 72]
    order = list(range(len(ids)))
    random.shuffle(order)
    told, growing = grow(model, ids, order, stops)
    assert told == model.text.answer(ids, stops)
    assert growing.reason == ("stop" if end or any(s in text for s in stops) else "length") or (
        growing.reason == "stop" and any(s in model.text.answer(ids) for s in stops)
    )
    assert BROKEN not in told or BROKEN in model.text.answer(ids, stops)


def test_a_method_that_revises_tells_its_answer_at_the_end(model: Model) -> None:
    """A beam shows "ab.", another one wins with "ba"; a stop string in the first means nothing."""
    assert model.text is not None and METHODS["soar"].revises
    shown, answer, tally = model.text.plain("ab."), model.text.plain("ba"), Tally([])
    choice = Choice(Growing(model, ["."]), revises=True)
    assert choice.feed(News([*shown, model.mask_id], tally)) == ""
    assert choice.growing.reason is None
    assert choice.feed(News([*answer, model.end_ids[0]], tally, done=True)) == "ba"


def test_a_character_of_several_tokens_comes_whole(model: Model) -> None:
    assert model.text is not None
    ids = model.text.plain("a😀")
    assert len(ids) > 3
    growing, mask = Growing(model), model.mask_id
    told = [growing.feed(ids[:n] + [mask] * (len(ids) - n), False) for n in range(len(ids))]
    assert told == ["", "a", *[""] * (len(ids) - 2)]
    assert growing.feed(ids, True) == "😀"


def test_what_may_begin_a_stop_string_is_held_back(model: Model) -> None:
    assert model.text is not None
    ids = model.text.plain("xabcde")
    parts = [model.text.decode([token]) for token in ids]
    growing, told = Growing(model, ["abcdef", "c"]), ""
    for count in range(1, len(ids)):
        told += growing.feed([*ids[:count], model.mask_id], False)
        # "c" has come, but "abcdef" would begin before it.
        assert told == "x"[: len("".join(parts[:count]))] and growing.reason is None
    assert growing.feed(ids, True) == "ab" and growing.reason == "stop"


def test_tokens_are_counted_up_to_the_end_or_the_stop(model: Model) -> None:
    assert model.text is not None
    ids = model.text.plain("Ann has four")
    growing = Growing(model)
    growing.feed([*ids, model.end_ids[0], 9, 9], True)
    assert growing.tokens == len(ids) and growing.reason == "stop"
    growing = Growing(model, ["h"])
    growing.feed([*ids, 9, 9], True)
    assert growing.tokens < len(ids) and growing.text == "Ann "
