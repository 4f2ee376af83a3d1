"""The tokenizer: any text, whole numbers, ordinary files."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from focore.train import tokenizer as text
from focore.train.problems import TASKS, sample
from focore.train.start import make_tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return make_tokenizer(0)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_text_comes_back(tokenizer, written):
    ids = tokenizer.encode(written).ids
    assert tokenizer.decode(ids, skip_special_tokens=False) == written


@given(st.integers(0, 999))
def test_a_number_is_one_token_wherever_it_stands(tokenizer, number):
    alone = tokenizer.encode(str(number)).ids
    assert len(alone) == 1
    for around in ("has {} eggs", "has {}.", "({}+", "${}", "{}", "= {}", "\n{}\n"):
        assert alone[0] in tokenizer.encode(around.format(number)).ids


def test_number_ids_are_in_order(tokenizer):
    ids = text.numbers(tokenizer)
    assert len(set(ids)) == 1000
    assert tokenizer.decode([ids[7], ids[345]]) == "7345"


def test_sums_are_short(tokenizer):
    assert len(tokenizer.encode("12+30=42").ids) == 5
    assert len(tokenizer.encode("12 + 30 = 42").ids) == 5
    assert len(tokenizer.encode("The answer is 42").ids) == 4


def test_long_numbers_are_cut_in_threes(tokenizer):
    assert tokenizer.encode("1234567").tokens == ["123", "456", "7"]


@pytest.mark.parametrize("task", TASKS)
def test_answers_fit_a_block(tokenizer, task):
    rng = random.Random(0)
    for _ in range(500):
        assert len(tokenizer.encode(sample(task, "train", rng).answer).ids) < 32


def test_it_is_small_and_the_same_each_time(tokenizer):
    again = make_tokenizer.__wrapped__(0)
    assert again.to_str() == tokenizer.to_str()
    assert tokenizer.get_vocab_size() < 2200


def test_transformers_loads_its_files(tokenizer, tmp_path):
    from transformers import AutoTokenizer

    for name, content in text.files(tokenizer).items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    message = [{"role": "user", "content": " Use 1, 2, 3 once each to make 6. "}]
    shown = loaded.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
    assert shown == text.chat(message[0]["content"])
    assert loaded(shown, add_special_tokens=False)["input_ids"] == tokenizer.encode(shown).ids
    assert loaded.mask_token_id == tokenizer.token_to_id(text.MASK)
    assert loaded.eos_token_id == tokenizer.token_to_id(text.END)
