"""A focore model for lm-evaluation-harness, registered there as `focore`.

import focore.evaluate.harness
lm_eval.simple_evaluate(model="focore", model_args={"pretrained": "tiny", "method": "focore"}, ...)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from ..errors import OptionError
from ..generation import Plan
from ..loading import Model, load
from ..prompts import prompt_ids
from ..text import Text
from .answering import Answer, Answering, Here, Job, seeded
from .keeping import Kept, Record
from .likelihood import Estimate
from .provenance import hash_of
from .requests import ChatText, RequestOptions, keys_of, split_pair

GEN_LENGTH = 128
BATCH_SIZE = 16


@register_model("focore")
class Harness(LM):  # type: ignore[misc]
    """Generates by any method; scores given text by Monte-Carlo."""

    def __init__(
        self,
        pretrained: str | Model = "tiny",
        method: str = "focore",
        gen_length: int | None = None,
        seed: int = 0,
        batch_size: int | str | None = None,
        dtype: str = "auto",
        device: str | None = None,
        revision: str | None = None,
        likelihood_samples: int = 128,
        check_greedy: bool = True,
        max_batch_size: int | None = None,
        **options: Any,
    ):
        super().__init__()
        self.model = (
            pretrained
            if isinstance(pretrained, Model)
            else load(pretrained, dtype=dtype, device=device_of(device), revision=revision)
        )
        if self.model.text is None:
            raise OptionError(f"{self.model.name} has no tokenizer files; evaluation needs text")
        for name in ("prefix", "fixed"):
            if name in options:
                raise OptionError(f"{name} is not an option of evaluation; tasks have gen_prefix")
        self.text: Text = self.model.text
        self.method, self.gen_length, self.seed, self.options = method, gen_length, seed, options
        self.estimate = Estimate(likelihood_samples, seed, check_greedy)
        self.compute: Answering = Here(size_of(batch_size))
        self.kept = Kept()
        self.progress: Callable[[int, int], None] = lambda done, total: None
        # A wrong option is said at once.
        self.plan(GEN_LENGTH if gen_length is None else gen_length)

    def plan(self, gen_length: int, **more: Any) -> Plan:
        """The method with all its options."""
        given = {**self.options, "gen_length": gen_length, **more}
        return Plan.make(self.model, self.method, self.seed, given)

    @property
    def tokenizer_name(self) -> str:
        return str(self.text.tokenizer.name_or_path).replace("/", "__")

    def chat_template(self, chat_template: bool | str = False) -> str | None:
        return str(self.text.tokenizer.chat_template) if chat_template else None

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """The messages as text; the beginning of an answer is kept apart, for the canvas."""
        prefix = ""
        if not add_generation_prompt and chat_history and chat_history[-1]["role"] == "assistant":
            *chat_history, last = chat_history
            prefix = last["content"]
        if not self.text.tokenizer.chat_template:
            raise OptionError(f"{self.model.name} has no chat template")
        rendered = self.text.tokenizer.apply_chat_template(
            chat_history, tokenize=False, add_generation_prompt=True
        )
        return ChatText.made(rendered, prefix)

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Generate, then cut at the end token and at the first stop string."""
        groups: dict[RequestOptions, list[int]] = {}
        for index, request in enumerate(requests):
            groups.setdefault(RequestOptions.read(request.args[1]), []).append(index)
        found: dict[int, Record] = {}
        keys = keys_of(requests)
        for options, indices in groups.items():
            length = self.gen_length or options.max_tokens or GEN_LENGTH
            plan = self.plan(length, **options.sampling)
            found |= self._generated(plan, options, {i: requests[i] for i in indices}, keys)
        return [found[index]["output"] for index in range(len(requests))]

    def _generated(
        self, plan: Plan, options: RequestOptions, requests: Mapping[int, Any], keys: Sequence[str]
    ) -> dict[int, Record]:
        order = list(requests)
        jobs = seeded(plan, [self._job(plan, requests[i].args[0]) for i in order])
        how = repr((options, plan.settings.gen_length))
        hashes = {i: hash_of(requests[i].args[0], how) for i in order}
        found = {i: self.kept.get(keys[i], hashes[i]) for i in order}
        left = [place for place, i in enumerate(order) if found[i] is None]
        done = len(order) - len(left)
        self.progress(done, len(order))
        for place, answer in self.compute(plan, [jobs[place] for place in left]):
            i = order[left[place]]
            record = self._record(answer, options) | {"prompt_hash": hashes[i]}
            self.kept.add(keys[i], record)
            found[i] = record
            done += 1
            self.progress(done, len(order))
        return {i: record for i, record in found.items() if record is not None}

    def _job(self, plan: Plan, context: str) -> Job:
        """The tokens of a request; what does not fit is cut off the front of its prompt."""
        prefix = self.text.plain(context.prefix) if isinstance(context, ChatText) else []
        prompt = prompt_ids(self.model, self._encode(context), None)
        room = self.model.denoiser.max_length - plan.settings.gen_length - len(prefix)
        if room < 1:
            raise OptionError(
                f"gen_length={plan.settings.gen_length} leaves no room for a prompt in the "
                f"model's {self.model.denoiser.max_length} positions"
            )
        return Job(prompt[-room:], prefix)

    def _encode(self, context: str) -> list[int]:
        if isinstance(context, ChatText):
            return self.text.plain(context.prompt)
        return self.text.encode(context, chat=False)

    def _record(self, answer: Answer, options: RequestOptions) -> Record:
        ends = (i for i, token in enumerate(answer.tokens) if token in self.model.end_ids)
        return {
            "output": self.text.answer(answer.tokens, options.until),
            "tokens": answer.tokens,
            "generated": next(ends, len(answer.tokens)),
            "steps": answer.steps,
            "passes": answer.passes,
            "seconds": round(answer.seconds, 6),
        }

    def loglikelihood(
        self, requests: list[Any], disable_tqdm: bool = False
    ) -> list[tuple[float, bool]]:
        """How probable each continuation is after its context."""

        def one(request: Any) -> list[Any]:
            prompt, target = split_pair(self._encode, *request.args[:2])
            return list(self.estimate(self.model, prompt, target))

        values = self._scored(requests, one)
        return [(value[0], value[1]) for value in values]

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """How probable each text is, in pieces as long as the model."""
        limit = self.model.denoiser.max_length

        def one(request: Any) -> list[Any]:
            tokens = self._encode(request.args[0])
            pieces = [tokens[first : first + limit] for first in range(0, len(tokens), limit)]
            estimate = Estimate(self.estimate.samples, self.estimate.seed, False)
            return [sum(estimate(self.model, [], piece)[0] for piece in pieces)]

        return [value[0] for value in self._scored(requests, one)]

    def _scored(self, requests: list[Any], score: Callable[[Any], list[Any]]) -> list[list[Any]]:
        """The scores of requests, those kept and those computed now."""
        found = []
        for done, (request, key) in enumerate(zip(requests, keys_of(requests), strict=True)):
            self.progress(done, len(requests))
            mark = hash_of(*(str(part) for part in request.args[:2]))
            record = self.kept.get(key, mark)
            if record is None:
                record = {"value": score(request), "prompt_hash": mark}
                self.kept.add(key, record)
            found.append(record["value"])
        self.progress(len(requests), len(requests))
        return found


def device_of(said: str | None) -> str:
    """A device; lm-eval's command says cuda:0 when its user has said nothing."""
    if said is None or (said.startswith("cuda") and not torch.cuda.is_available()):
        return "auto"
    return said


def size_of(said: int | str | None) -> int:
    """A batch size; `auto` and its kin have no meaning here."""
    if said is None or (isinstance(said, str) and not said.isdigit()):
        return BATCH_SIZE
    return int(said)
