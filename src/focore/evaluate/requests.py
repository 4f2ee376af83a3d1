"""What lm-evaluation-harness asks for, read strictly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import unknown

LENGTHS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_length")
SAMPLING = ("temperature", "top_p", "top_k")
KNOWN = ("until", "do_sample", "num_beams", *LENGTHS, *SAMPLING)  # there are no beams here


class ChatText(str):
    """A prompt in a chat template; `prefix` is how the answer is to begin."""

    prefix: str = ""

    @classmethod
    def made(cls, prompt: str, prefix: str) -> ChatText:
        text = cls(prompt + prefix)
        text.prefix = prefix
        return text

    @property
    def prompt(self) -> str:
        return str(self)[: len(self) - len(self.prefix)]


@dataclass(frozen=True)
class RequestOptions:
    """How one request is to be answered."""

    until: tuple[str, ...]
    max_tokens: int | None
    temperature: float | None
    top_p: float | None
    top_k: int | None

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> RequestOptions:
        """The options of a task; sampling counts only where the task asks for samples."""
        for name in given:
            if name not in KNOWN:
                raise unknown("generation option of the task", name, KNOWN)
        until = given.get("until") or ()
        lengths = [given[name] for name in LENGTHS if given.get(name)]
        sampled = {name: given.get(name) for name in SAMPLING if given.get("do_sample")}
        return cls(
            tuple(stop for stop in ((until,) if isinstance(until, str) else until) if stop),
            int(lengths[0]) if lengths else None,
            sampled.get("temperature"),
            sampled.get("top_p"),
            sampled.get("top_k"),
        )

    @property
    def sampling(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in SAMPLING}
        return {name: value for name, value in found.items() if value is not None}


def keys_of(requests: Sequence[Any]) -> list[str]:
    """A name for each request that is the same in every run: its task, document and part."""
    seen: Counter[str] = Counter()
    keys = []
    for request in requests:
        key = f"{request.task_name}/{request.doc_id}/{request.idx}"
        keys.append(f"{key}/{seen[key]}")
        seen[key] += 1
    return keys


def split_pair(
    encode: Callable[[str], list[int]], context: str, continuation: str
) -> tuple[list[int], list[int]]:
    """Tokens of a context and of what follows it, which takes the context's last spaces."""
    if isinstance(context, ChatText):
        prompt = encode(context) + encode(ChatText.made(context.prefix, ""))
        return prompt, encode(ChatText.made(continuation, ""))
    spaces = len(context) - len(context.rstrip())
    if spaces:
        context, continuation = context[:-spaces], context[-spaces:] + continuation
    whole, prompt = encode(context + continuation), encode(context) if context else []
    return prompt, whole[len(prompt) :]
