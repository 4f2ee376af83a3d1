"""Small tokenizers on disk, in the forms that checkpoints ship them in."""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

WORDS = "Ann has four red apples and Bob has two pears. How many are there? The answer is six."
CHAT = (
    "{% for message in messages %}<|start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
SPECIAL = ["<|endoftext|>", "<|mdm_mask|>", "<|start|>", "<|eot_id|>"]


def byte_level(size: int = 300) -> Tokenizer:
    """A byte-level BPE, so that any text can be encoded."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([WORDS], trainer)
    return tokenizer


def write_tokenizer(folder: Path, chat: bool = True) -> PreTrainedTokenizerFast:
    """An ordinary fast tokenizer with a chat template."""
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=byte_level(), eos_token="<|endoftext|>", mask_token="<|mdm_mask|>"
    )
    if chat:
        tokenizer.chat_template = CHAT
    tokenizer.save_pretrained(folder)
    return tokenizer


def write_dream_tokenizer(folder: Path) -> None:
    """The files that Dream publishes: Qwen2's vocabulary, and a class that is code of its own."""
    model = json.loads(byte_level().to_str())["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
    merges = ["#version: 0.2", *(" ".join(pair) for pair in model["merges"])]
    (folder / "merges.txt").write_text("\n".join(merges))
    added = {
        str(i): {"content": name, "special": True, "lstrip": False, "rstrip": False,
                 "normalized": False, "single_word": False}
        for i, name in enumerate(SPECIAL)
    }  # fmt: skip
    config = {
        "tokenizer_class": "DreamTokenizer",
        "auto_map": {"AutoTokenizer": ["tokenization_dream.DreamTokenizer", None]},
        "added_tokens_decoder": added,
        "eos_token": "<|endoftext|>",
        "pad_token": "<|endoftext|>",
        "mask_token": "<|mdm_mask|>",
        "chat_template": CHAT,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
