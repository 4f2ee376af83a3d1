"""Strings, chat messages, ids and blanks as prompts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import focore
from focore.text import IS_BASE
from tests.support import DREAM, LLADA, write_checkpoint
from tests.tokenizers import write_dream_tokenizer, write_tokenizer

CONFIG = replace(LLADA, vocabulary=320, mask_id=1, end_ids=(0,))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> focore.Model:
    folder = tmp_path_factory.mktemp("instruct")
    write_checkpoint(folder, CONFIG)
    write_tokenizer(folder)
    return focore.load(folder)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> focore.Model:
    folder = tmp_path_factory.mktemp("plain")
    write_checkpoint(folder / "llada-base", CONFIG)
    write_tokenizer(folder / "llada-base")
    return focore.load(folder / "llada-base")


def ids(model: focore.Model, prompt: object, chat: bool | None = None) -> list[int]:
    assert model.text is not None
    return model.text.encode(prompt, chat)  # type: ignore[arg-type]


def test_a_string_goes_into_the_chat_template(model: focore.Model) -> None:
    assert model.text is not None
    message = [{"role": "user", "content": "How many?"}]
    rendered = "<|start|>user\nHow many?<|eot_id|><|start|>assistant\n"
    assert ids(model, "How many?") == ids(model, message) == model.text.plain(rendered)
    assert ids(model, "How many?", chat=False) == model.text.plain("How many?")


def test_a_base_model_gets_the_string_as_it_is(base: focore.Model) -> None:
    assert base.text is not None
    assert ids(base, "How many?") == base.text.plain("How many?")
    assert ids(base, "How many?", chat=True) != base.text.plain("How many?")


@pytest.mark.parametrize(
    ("name", "base"),
    [("LLaDA-8B-Base", True), ("Dream-v0-Base-7B", True), ("database", False), ("base", True)],
)
def test_a_base_model_is_known_by_its_name(name: str, base: bool) -> None:
    assert bool(IS_BASE.search(name)) == base


def test_all_kinds_of_prompts_give_the_same_answer(model: focore.Model) -> None:
    options = {"method": "confidence", "gen_length": 6}
    text = focore.generate(model, "How many?", **options)
    chat = focore.generate(model, [{"role": "user", "content": "How many?"}], **options)
    as_ids = focore.generate(model, ids(model, "How many?"), **options)
    assert text.tokens == chat.tokens == as_ids.tokens
    several = focore.generate(model, ["How many?", [{"role": "user", "content": "Ann"}]], **options)
    assert isinstance(several, list) and several[0].tokens == text.tokens
    assert focore.generate(model, [], **options) == []


def test_end_tokens_come_from_all_files(model: focore.Model) -> None:
    assert model.end_ids == (0, 3)


def test_text_is_cut_at_the_first_end_token(model: focore.Model) -> None:
    assert model.text is not None
    answer = [*model.text.plain("six pears"), 3, *model.text.plain(" more")]
    assert model.text.answer(answer) == "six pears"
    assert model.text.answer(answer, ["ears", "x p", "more"]) == "si"


def test_stop_strings_cut_the_text_and_not_the_tokens(model: focore.Model) -> None:
    options = {"method": "confidence", "gen_length": 12, "prefix": "two red apples"}
    whole = focore.generate(model, "How many?", **options)
    cut = focore.generate(model, "How many?", stop=" red", **options)
    assert whole.text.startswith("two red") and cut.text == "two"
    assert cut.tokens == whole.tokens
    assert focore.generate(model, "How many?", stop=None, **options).text == whole.text


@pytest.mark.parametrize("stop", ["", [""], [1], ["a", None], 7, {"a": 1}])
def test_stop_strings_are_checked_first(
    model: focore.Model, stop: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("focore.generation.finish", None)
    with pytest.raises(focore.OptionError, match="none of them empty"):
        focore.generate(model, "How many?", gen_length=4, stop=stop)


def test_prefix_and_fixed_text_stay(model: focore.Model) -> None:
    assert model.text is not None
    made = focore.generate(
        model, "How many?", gen_length=24, prefix="The answer", fixed={20: " six"}
    )
    start = model.text.plain("The answer")
    assert made.tokens[: len(start)] == start
    end = model.text.plain(" six")
    assert made.tokens[20 : 20 + len(end)] == end


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prefix": "a", "fixed": {0: "b"}}, "both say"),
        ({"fixed": {3: "a long text that does not fit"}}, "outside the answer"),
        ({"fixed": {-1: "a"}}, "outside the answer"),
        ({"fixed": {"x": "a"}}, "not a whole number"),
        ({"fixed": {1: "<|mdm_mask|>"}}, "mask token"),
        ({"fixed": "text"}, "must be a mapping of offsets"),
    ],
)
def test_fixed_text_is_checked(model: focore.Model, options: dict, message: str) -> None:
    with pytest.raises(focore.OptionError, match=message):
        focore.generate(model, "How many?", gen_length=8, **options)


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ([5, 1], "contains the mask token 1; use infill"),
        ("<|mdm_mask|> apples", "contains the mask token"),
        ([5, 320], "token id 320"),
        ([5, -1], "token id -1"),
        ([5, 1.5], "token id 1.5"),
        ([{"role": "user"}], "a role and a content"),
        ({"role": "user"}, "type dict"),
        (7, "type int"),
    ],
)
def test_prompts_are_checked(model: focore.Model, prompt: object, message: str) -> None:
    with pytest.raises(focore.OptionError, match=message):
        focore.generate(model, prompt, gen_length=4)  # type: ignore[call-overload]


def test_a_checkpoint_without_tokenizer_takes_ids_only(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, CONFIG)
    model = focore.load(tmp_path)
    assert focore.generate(model, [5, 6], gen_length=4).text == ""
    for call in (
        lambda: focore.generate(model, "hello"),
        lambda: focore.infill(model, "[MASK]"),
        lambda: focore.generate(model, [5], fixed={0: "a"}, gen_length=4),
        lambda: focore.generate(model, [5], method="mask_hd"),
    ):
        with pytest.raises(focore.OptionError, match=r"no tokenizer|a tokenizer"):
            call()


def test_infill_keeps_the_text_around_the_blanks(model: focore.Model) -> None:
    made = focore.infill(model, "Ann has [MASK:3] apples and [MASK] pears.")
    assert len(made.tokens) == 4 and len(made.blanks) == 2
    assert made.text == f"Ann has {made.blanks[0]} apples and {made.blanks[1]} pears."
    both = focore.infill(model, ["[MASK:2]", "a[MASK]b[MASK:2]c"])
    assert isinstance(both, list) and [len(x.tokens) for x in both] == [2, 3]


def test_blanks_side_by_side_stay_apart(model: focore.Model) -> None:
    assert model.text is not None
    made = focore.infill(model, "Ann has [MASK:2][MASK:3].")
    decode = model.text.decode
    assert made.blanks == [decode(made.tokens[:2]), decode(made.tokens[2:])]
    assert made.text == f"Ann has {made.blanks[0]}{made.blanks[1]}."
    spelt = model.text.tokenizer.convert_ids_to_tokens(model.mask_id)
    assert len(focore.infill(model, f"Ann {spelt} has [MASK:2]").blanks) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"texts": "no blank here"}, "no blank"),
        ({"texts": "[MASK:0]"}, "at least one token"),
        ({"texts": "[MASK:9999999999]"}, "longer than the model's 128 positions"),
        ({"texts": f"[MASK:{'9' * 5000}]"}, "longer than the model's 128 positions"),
        ({"texts": "[MASK]", "gen_length": 4}, "gen_length is not an option of infill"),
    ],
)
def test_infill_is_checked(model: focore.Model, call: dict, message: str) -> None:
    with pytest.raises(focore.OptionError, match=message):
        focore.infill(model, **call)


def test_a_stream_shows_what_is_open(model: focore.Model) -> None:
    frames = list(focore.stream(model, "How many?", gen_length=5))
    assert frames[0].text.count("[MASK]") == 4
    assert "[MASK]" not in frames[-1].text
    assert frames[-1].start == len(ids(model, "How many?"))


@given(text=st.text(max_size=40))
def test_any_text_survives(model: focore.Model, text: str) -> None:
    assert model.text is not None
    assert model.text.decode(model.text.plain(text)) == text


def test_dreams_tokenizer_loads_without_its_code(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, replace(DREAM, vocabulary=320, mask_id=1, end_ids=(0,)))
    write_dream_tokenizer(tmp_path)
    model = focore.load(tmp_path)
    assert model.text is not None
    plain = model.text.plain("Ann has four")
    assert model.text.decode(plain) == "Ann has four" and len(plain) < len("Ann has four")
    assert ids(model, "Ann")[0] == 2
    assert focore.infill(model, "Ann [MASK:2]").text.startswith("Ann ")


def test_a_broken_tokenizer_is_a_clear_error(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, CONFIG)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(focore.CheckpointError, match="tokenizer does not load"):
        focore.load(tmp_path)


def test_chat_needs_a_template(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, CONFIG)
    write_tokenizer(tmp_path, chat=False)
    model = focore.load(tmp_path)
    assert len(focore.generate(model, "Ann", gen_length=3).tokens) == 3
    with pytest.raises(focore.OptionError, match="no chat template"):
        focore.generate(model, [{"role": "user", "content": "Ann"}], gen_length=3)
