"""The shipped model's tokenizer: byte-level BPE, with every number from 0 to 999 as one token."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from .problem import LARGEST

END, MASK, TURN = "<|endoftext|>", "<|mdm_mask|>", "<|eot_id|>"
HEADER, HEADER_END = "<|start_header_id|>", "<|end_header_id|>"
START = "<|startoftext|>"
SPECIAL = (END, MASK, TURN, HEADER, HEADER_END, START)

# A word or sign takes the space before it, and the one after it if a number follows: numbers
# then look the same everywhere, and `12 + 30` is three tokens.
PIECE = r"\d{1,3}| ?[^\W\d]+(?: (?=\d))?| ?[^\s\w](?: (?=\d))?|\s"
WORDS = 1200  # learnt tokens, at most
CHAT = (
    "{% for message in messages %}"
    "{{ '" + HEADER + "' + message['role'] + '" + HEADER_END + "' }}"
    "{{ message['content'] | trim }}{{ '" + TURN + "' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '" + HEADER + "assistant" + HEADER_END + "' }}{% endif %}"
)


def build(texts: Iterable[str]) -> Tokenizer:
    """A tokenizer whose words are those of `texts`."""
    learnt = Tokenizer(models.BPE())
    learnt.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    trainer = trainers.BpeTrainer(
        vocab_size=256 + WORDS,
        min_frequency=20,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learnt.train_from_iterator(_words(texts), trainer)
    state = json.loads(learnt.to_str())["model"]
    return _assembled(list(state["vocab"]), [(a, b) for a, b in state["merges"]])


def _words(texts: Iterable[str]) -> Iterator[list[str]]:
    """The pieces of each text that are not numbers."""
    for text in texts:
        yield from ([piece] for piece in re.findall(PIECE, text) if not piece.isdigit())


def _assembled(tokens: list[str], merges: list[tuple[str, str]]) -> Tokenizer:
    names = [*SPECIAL, *tokens, *(str(n) for n in range(10, LARGEST + 1))]
    vocabulary = {name: index for index, name in enumerate(names)}
    # ignore_merges: a piece that is in the vocabulary is taken whole, so numbers need no merges.
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECE), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name, normalized=False) for name in SPECIAL])
    return tokenizer


def numbers(tokenizer: Tokenizer) -> list[int]:
    """The ids of 0, 1, ... 999."""
    return [token(tokenizer, str(n)) for n in range(LARGEST + 1)]


def token(tokenizer: Tokenizer, name: str) -> int:
    """The id of a token that must be there."""
    found = tokenizer.token_to_id(name)
    assert found is not None, name
    return found


def chat(text: str) -> str:
    """The prompt of one user message, as the chat template writes it."""
    return f"{HEADER}user{HEADER_END}{text.strip()}{TURN}{HEADER}assistant{HEADER_END}"


def files(tokenizer: Tokenizer) -> dict[str, str]:
    """The ordinary tokenizer files, by name."""
    fields = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "pad_token": END,
        "mask_token": MASK,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 512,
        "chat_template": CHAT,
    }
    return {
        "tokenizer.json": tokenizer.to_str(pretty=True),
        "tokenizer_config.json": json.dumps(fields, indent=2) + "\n",
    }
