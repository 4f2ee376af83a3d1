"""What users give, as token ids: prompts, fixed text, texts with blanks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from torch import Tensor

from .errors import OptionError
from .loading import Model
from .text import Messages, Text

Prompt = str | Messages | Sequence[int]


def several(prompts: Any) -> bool:
    """Whether this is a list of prompts rather than one."""
    if isinstance(prompts, str):
        return False
    if isinstance(prompts, Tensor):
        return prompts.dim() == 2
    if not isinstance(prompts, Sequence):
        raise OptionError(f"a prompt of type {type(prompts).__name__}; give a string or a list")
    return not prompts or not isinstance(prompts[0], (int, Mapping))


def prompt_ids(model: Model, prompt: Any, chat: bool | None) -> list[int]:
    """Token ids of a string, of chat messages, or of ids, which stay as they are."""
    if isinstance(prompt, str) or _are_messages(prompt):
        ids = _text(model).encode(prompt, chat)
    else:
        ids = token_ids(model, prompt)
    if model.mask_id in ids:
        raise OptionError(
            f"the prompt contains the mask token {model.mask_id}; use infill to fill blanks"
        )
    return ids


def token_ids(model: Model, ids: Any) -> list[int]:
    """Token ids, checked."""
    if isinstance(ids, Tensor):
        ids = ids.tolist()
    if not isinstance(ids, Sequence):
        raise OptionError(f"a prompt of type {type(ids).__name__}; give a string or a list")
    limit = model.denoiser.vocabulary
    for token in ids:
        if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token < limit:
            raise OptionError(f"token id {token!r} is not a whole number below {limit}")
    return list(ids)


def fixed_ids(model: Model, fixed: Mapping[Any, Any] | None, prefix: Any) -> dict[int, list[int]]:
    """The fixed text of an answer, as ids by offset."""
    pieces = dict(fixed or {})
    if prefix is not None:
        if 0 in pieces:
            raise OptionError("prefix and fixed both say what stands at offset 0")
        pieces[0] = prefix
    found = {}
    for offset, piece in pieces.items():
        if isinstance(offset, bool) or not isinstance(offset, int):
            raise OptionError(f"fixed: offset {offset!r} is not a whole number")
        ids = _text(model).plain(piece) if isinstance(piece, str) else token_ids(model, piece)
        if model.mask_id in ids:
            raise OptionError(f"fixed: the text at offset {offset} contains the mask token")
        found[offset] = ids
    return found


def offsets(fixed: Mapping[Any, Any]) -> dict[Any, Any]:
    """Fixed text as JSON has it, its offsets as numbers; what is none is left to be refused."""
    return {int(k) if _is_number(k) else k: v for k, v in fixed.items()}


def _is_number(key: Any) -> bool:
    return isinstance(key, str) and key.isascii() and key.isdecimal() and len(key) < 10


@dataclass(frozen=True)
class Blanked:
    """A text with blanks, as ids with masks in their place."""

    ids: list[int]
    sizes: list[int]  # masks of each blank
    between: list[str]  # the text around the blanks; empty if only ids are known


def blanked(model: Model, source: Any) -> Blanked:
    """A text with blanks, or ids with masks."""
    sizes: list[int] = []
    between: list[str] = []
    if isinstance(source, str):
        ids, sizes, between = _text(model).with_blanks(source, model.denoiser.max_length)
    else:
        ids = token_ids(model, source)
    masks = [token == model.mask_id for token in ids]
    if not any(masks):
        raise OptionError("the text has no blank; write [MASK] or [MASK:n] where one is")
    if sum(sizes) != sum(masks):  # ids, or a text that spells the mask token itself
        sizes, between = [len(list(run)) for masked, run in groupby(masks) if masked], []
    return Blanked(ids, sizes, between)


def stop_strings(stop: Any) -> list[str]:
    """The strings that end a text, checked."""
    found = [stop] if isinstance(stop, str) else [] if stop is None else stop
    if not isinstance(found, Sequence) or not all(isinstance(s, str) and s for s in found):
        raise OptionError(f"stop={stop!r} is not allowed; give strings, none of them empty")
    return list(found)


def _are_messages(prompt: Any) -> bool:
    return isinstance(prompt, Sequence) and any(isinstance(item, Mapping) for item in prompt)


def _text(model: Model) -> Text:
    if model.text is None:
        raise OptionError(f"{model.name} has no tokenizer files; give token ids instead of text")
    return model.text
