"""The linguistic rule, checked by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import focore
from focore.decoding import words
from tests.support import LLADA, write_checkpoint
from tests.tokenizers import write_tokenizer

pytest.importorskip("spacy")

HIGH = ["Sarah", " Sarah ", "20", "four", " years", "apple", "London", "3.5", "Monday", "glasses"]
LOW = ["in", " the", "be", "will", ",", "old", "and", "is", "quickly", ""]


@pytest.mark.parametrize("text", HIGH)
def test_dense_tokens(text: str) -> None:
    assert words.dense(text)


@pytest.mark.parametrize("text", LOW)
def test_light_tokens(text: str) -> None:
    assert not words.dense(text)


@pytest.fixture
def model(tmp_path: Path) -> focore.Model:
    write_checkpoint(tmp_path, replace(LLADA, vocabulary=320, mask_id=1, end_ids=(0,)))
    write_tokenizer(tmp_path)
    return focore.load(tmp_path)


def test_what_is_hidden(model: focore.Model) -> None:
    assert model.text is not None
    prompt = model.text.plain("Ann has four apples")
    pieces = model.text.pieces(prompt)
    for method, high in (("mask_hd", True), ("mask_ld", False)):
        first = next(iter(focore.stream(model, prompt, method=method, gen_length=4)))
        hidden = first.notes["hidden"][: len(prompt)]
        assert hidden == [words.dense(piece) == high for piece in pieces]


@pytest.mark.parametrize("method", ["mask_hd", "mask_ld"])
def test_batches_and_caches(model: focore.Model, method: str) -> None:
    prompts = ["Ann has four apples", "Bob has two", "How many are there?"]
    alone = [focore.generate(model, p, method=method, gen_length=8).tokens for p in prompts]
    made = focore.generate(model, prompts, method=method, gen_length=8)
    assert [c.tokens for c in made] == alone
    quick = focore.generate(model, prompts, method=method, gen_length=8, cache="dual")
    assert all(1 not in c.tokens for c in quick)


def test_a_verdict_is_found_once(model: focore.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = words.dense
    monkeypatch.setattr(words, "dense", lambda text: asked.append(text) or real(text))
    focore.generate(model, "Ann has four apples", method="mask_hd", gen_length=6)
    first = len(asked)
    focore.generate(model, "Ann has four apples", method="mask_hd", gen_length=6)
    assert len(asked) == first > 4


def test_without_a_pipeline_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    words.pipeline.cache_clear()
    monkeypatch.setattr("spacy.util.is_package", lambda name: False)
    with pytest.raises(focore.OptionError, match=r"pip install 'focore\[words\]'"):
        words.pipeline()
    words.pipeline.cache_clear()


def test_the_ordinary_package_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    words.pipeline.cache_clear()
    monkeypatch.setattr("spacy.util.is_package", lambda name: True)
    monkeypatch.setattr("spacy.load", loaded.append)
    words.pipeline()
    words.pipeline.cache_clear()
    assert loaded == ["en_core_web_sm"]
