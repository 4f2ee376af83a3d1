"""Tokens and text: tokenizer, chat template, blanks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import CheckpointError, OptionError, first_line

IS_BASE = re.compile(r"(^|[-_.])base($|[-_.])", re.IGNORECASE)
BLANK = re.compile(r"\[MASK(?::(\d+))?\]")
TURN_ENDS = ("<|eot_id|>", "<|im_end|>")
FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
MESSAGE = "a chat message needs a role and a content, both strings"

Messages = Sequence[Mapping[str, str]]


class Text:
    """The tokenizer of a checkpoint."""

    def __init__(self, tokenizer: Any, mask_id: int, end_ids: Sequence[int], instruct: bool):
        self.tokenizer = tokenizer
        self.mask_id = mask_id
        self._pieces: dict[int, str] = {}
        self.instruct = instruct and bool(tokenizer.chat_template)
        known = tokenizer.get_vocab()
        ends = [*end_ids, tokenizer.eos_token_id, *(known.get(name) for name in TURN_ENDS)]
        self.end_ids = tuple(dict.fromkeys(i for i in ends if i is not None))
        added = tokenizer.added_tokens_decoder.items()
        self.special_ids = frozenset(tokenizer.all_special_ids) | {
            token for token, about in added if about.special
        }

    def encode(self, prompt: str | Messages, chat: bool | None = None) -> list[int]:
        """Token ids of a string or of chat messages.

        `chat` says whether a string goes into the chat template; None: for instruct models.
        """
        if isinstance(prompt, str):
            if not (self.instruct if chat is None else chat):
                return list(self.tokenizer(prompt)["input_ids"])
            prompt = [{"role": "user", "content": prompt}]
        for message in prompt:
            whole = isinstance(message, Mapping) and {"role", "content"} <= set(message)
            if not whole or not all(isinstance(value, str) for value in message.values()):
                raise OptionError(MESSAGE)
        if not self.tokenizer.chat_template:
            raise OptionError("this checkpoint has no chat template; pass a string with chat=False")
        text = self.tokenizer.apply_chat_template(
            list(prompt), tokenize=False, add_generation_prompt=True
        )
        return self.plain(text)

    def plain(self, text: str) -> list[int]:
        """Token ids of a piece of text, with no special tokens added."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def with_blanks(self, text: str, limit: int) -> tuple[list[int], list[int], list[str]]:
        """Ids with masks at the blanks `[MASK]` and `[MASK:n]`, their sizes, the text between.

        More than `limit` masks are refused before they are written.
        """
        mask = self.tokenizer.convert_ids_to_tokens(self.mask_id)
        between = BLANK.split(text)[::2]
        sizes = []
        for match in BLANK.finditer(text):
            number = match[1] or "1"
            sizes.append(int(number) if len(number) < 10 else limit + 1)
            if sizes[-1] < 1:
                raise OptionError(f"{match[0]}: a blank has at least one token")
        if sum(sizes) > limit:
            raise OptionError(f"the blanks are longer than the model's {limit} positions")
        filled = BLANK.sub(lambda match: mask * int(match[1] or 1), text)
        return list(self.tokenizer(filled)["input_ids"]), sizes, between

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, special tokens left out."""
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=True)
        return text

    def answer(self, ids: Sequence[int], stops: Sequence[str] = ()) -> str:
        """The text of an answer, cut at the first end token and then at the first stop string."""
        ends = (i for i, token in enumerate(ids) if token in self.end_ids)
        text = self.decode(ids[: next(ends, len(ids))])
        return text[: min((text.index(stop) for stop in stops if stop in text), default=None)]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each token as a reader would see it, special ones by name."""
        for token in set(ids) - self._pieces.keys():
            self._pieces[token] = str(self.tokenizer.decode([token]))
        return [self._pieces[token] for token in ids]


def load_text(
    folder: Path, name: str, mask_id: int, end_ids: Sequence[int], native: bool
) -> Text | None:
    """The tokenizer in a checkpoint folder, or None if it has none.

    Base models often ship a chat template that they were not trained on: the template is used for
    strings unless the checkpoint's name says `base`.
    """
    if not any((folder / file).exists() for file in FILES):
        return None
    try:
        tokenizer = _tokenizer(folder, native)
    except (OSError, ValueError, KeyError, TypeError) as error:
        said = first_line(error)
        raise CheckpointError(f"{folder}: the tokenizer does not load ({said})") from None
    return Text(tokenizer, mask_id, end_ids, instruct=not IS_BASE.search(Path(name).name))


def _tokenizer(folder: Path, native: bool) -> Any:
    """The tokenizer as transformers has it; it does not know the models that are native here.

    Dream publishes its tokenizer as code of its own around the files of Qwen2's.
    """
    import transformers

    kind: Any = transformers.AutoTokenizer
    if native:
        fast = (folder / "tokenizer.json").exists()
        kind = transformers.PreTrainedTokenizerFast if fast else transformers.Qwen2Tokenizer
    return kind.from_pretrained(folder, local_files_only=True)
