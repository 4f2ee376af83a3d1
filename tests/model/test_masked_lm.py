"""Masked LMs of transformers as denoisers."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForMaskedLM,
    BertConfig,
    BertForMaskedLM,
    BertTokenizerFast,
    EsmConfig,
    EsmForMaskedLM,
    EsmTokenizer,
    ModernBertConfig,
    ModernBertForMaskedLM,
)

import focore

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ann", "has", "four", "red", "apples"]
WORDS += ["and", "bob", "two", "pears", "the", "a", "is"]
LETTERS = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWC", "<mask>"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> focore.Model:
    folder = tmp_path_factory.mktemp("bert")
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=40, initializer_range=0.5,
    )  # fmt: skip
    BertForMaskedLM(config).eval().save_pretrained(folder)
    return focore.load(folder, dtype="float64")


@pytest.fixture(scope="module")
def esm(tmp_path_factory: pytest.TempPathFactory) -> focore.Model:
    folder = tmp_path_factory.mktemp("esm")
    (folder / "vocab.txt").write_text("\n".join(LETTERS))
    EsmTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    config = EsmConfig(
        vocab_size=len(LETTERS), mask_token_id=24, pad_token_id=1, hidden_size=32,
        num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
        max_position_embeddings=40, initializer_range=0.5, position_embedding_type="rotary",
    )  # fmt: skip
    EsmForMaskedLM(config).eval().save_pretrained(folder)
    return focore.load(folder, dtype="float64")


def test_logits_are_those_of_transformers(bert: focore.Model) -> None:
    ids = torch.tensor([[2, 5, 6, 4, 9, 3]])
    expected = bert.denoiser.model(input_ids=ids).logits  # type: ignore[attr-defined]
    assert torch.allclose(bert.logits(ids), expected)
    assert bert.mask_id == 4 and bert.end_ids == (3,)


@pytest.mark.parametrize("method", [m for m in focore.METHODS if not m.startswith("mask_")])
def test_every_method_fills_blanks(bert: focore.Model, esm: focore.Model, method: str) -> None:
    made = focore.infill(bert, "ann has [MASK:2] apples and [MASK] pears", method=method)
    assert made.text.startswith("ann has ") and made.text.endswith(" pears")
    assert bert.mask_id not in made.sequence and len(made.tokens) == 3
    protein = focore.infill(esm, "M K [MASK:3] L A", method=method)
    assert esm.mask_id not in protein.sequence and len(protein.tokens) == 3


def test_blanks_side_by_side_stay_apart(bert: focore.Model) -> None:
    made = focore.infill(bert, "ann has [MASK] [MASK].", method="confidence")
    assert made.text == f"ann has {made.blanks[0]} {made.blanks[1]}."


def test_rows_are_independent(bert: focore.Model) -> None:
    texts = ["ann has [MASK:4]", "[MASK:2] red apples and two pears", "bob [MASK]"]
    together = focore.infill(bert, texts, method="focore")
    alone = [focore.infill(bert, text, method="focore") for text in texts]
    assert [x.tokens for x in together] == [x.tokens for x in alone]


def test_positions_are_limited(bert: focore.Model) -> None:
    with pytest.raises(focore.OptionError, match="40 positions"):
        focore.infill(bert, "[MASK:50]")


def test_a_cache_is_refused_before_anything_is_decoded(bert: focore.Model) -> None:
    with pytest.raises(focore.OptionError, match="cache='dual' needs a LLaDA or Dream checkpoint"):
        focore.stream(bert, "ann has", gen_length=2, method="confidence", cache="dual")


def test_modernbert(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = ModernBertConfig(
        vocab_size=30, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=64, pad_token_id=0, cls_token_id=1,
        sep_token_id=2, bos_token_id=1, eos_token_id=2, global_attn_every_n_layers=1,
    )  # fmt: skip
    ModernBertForMaskedLM(config).eval().save_pretrained(tmp_path)
    with pytest.raises(focore.CheckpointError, match="'mask_token_id' is missing"):
        focore.load(tmp_path)
    config.mask_token_id = 4
    config.save_pretrained(tmp_path)
    model = focore.load(tmp_path)
    made = focore.infill(model, [1, 7, 4, 4, 9, 2], method="focore")
    assert 4 not in made.tokens and made.sequence[:2] == [1, 7]


def test_a_masked_lm_without_weights_is_named(tmp_path: Path) -> None:
    BertConfig(vocab_size=20, hidden_size=32, num_attention_heads=2).save_pretrained(tmp_path)
    with pytest.raises(focore.CheckpointError, match="neither"):
        focore.load(tmp_path)


def test_a_failure_without_a_message_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError

    BertConfig(vocab_size=20, hidden_size=32, num_attention_heads=2).save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").touch()
    monkeypatch.setattr(AutoModelForMaskedLM, "from_pretrained", fail)
    with pytest.raises(focore.CheckpointError, match=r": ValueError$"):
        focore.load(tmp_path)
