"""From a request to the rows that answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import TemplateError

from ..decoding.methods import find
from ..decoding.options import Settings, options_of
from ..errors import OptionError
from ..generation import Plan, row_seeds
from ..loading import Model
from ..prompts import Prompt, offsets
from .errors import ApiError, refused
from .limits import CHARACTERS_A_TOKEN, Limits, check_numbers
from .schema import SAID_ELSEWHERE, ChatRequest, Common, CompletionRequest, Extras
from .settings import ServeSettings
from .tickets import Job, Want


@dataclass(frozen=True)
class Asked:
    """A request that can be answered."""

    jobs: list[Job]
    stops: list[str]
    stream: bool
    usage: bool  # whether a stream ends with a chunk for it
    chat: bool

    @property
    def plan(self) -> Plan:
        return self.jobs[0].plan


def prepare(
    settings: ServeSettings, model: Model, request: CompletionRequest | ChatRequest, client: str
) -> Asked:
    """Check all that a request says, and lay out its rows."""
    if request.model != settings.served:
        raise ApiError(
            404,
            f"the model {request.model[:80]!r} is not served here; there is {settings.served!r}",
            param="model",
            code="model_not_found",
        )
    extras = request.focore or Extras()
    prompts = _prompts(request, settings.limits)
    stream = bool(request.stream)
    if extras.trace and len(prompts) > 1:
        raise refused("a trace is of one prompt, and there are several", "focore.trace")
    if extras.trace and request.stop:
        raise refused("a trace is of a whole answer; leave out stop", "focore.trace")
    if request.stream_options and not stream:
        raise refused("stream_options are only for streams", "stream_options")
    try:
        plan = _plan(settings, model, request, extras)
        rows = [plan.continuation(prompt, _templated(request, extras)) for prompt in prompts]
    except OptionError as error:
        raise refused(str(error)[:500], code="invalid_option") from None
    except TemplateError as error:
        said = f"the model's chat template refuses these messages: {str(error)[:200]}"
        raise refused(said, "messages") from None
    _check_lengths([row.start for row in rows], settings.limits)
    if extras.trace:
        _check_trace((plan.settings.steps or 0) * len(rows[0].tokens), settings.limits)
    stops = [request.stop] if isinstance(request.stop, str) else list(request.stop or [])
    want = _want(stream, extras, stops)
    seeds = row_seeds(plan.seed, rows)
    jobs = [
        Job(plan, row, seed, want, extras.trace, client)
        for row, seed in zip(rows, seeds, strict=True)
    ]
    usage = bool(request.stream_options and request.stream_options.include_usage)
    return Asked(jobs, stops, stream, usage, isinstance(request, ChatRequest))


def _want(stream: bool, extras: Extras, stops: Sequence[str]) -> Want:
    if stream and extras.stream == "steps":
        return Want.STEPS
    return Want.TEXT if stream or stops else Want.END


def _templated(request: Common, extras: Extras) -> bool | None:
    """A plain completion goes on with its text as it is, unless it says otherwise."""
    return extras.chat if isinstance(request, ChatRequest) else bool(extras.chat)


def _prompts(request: CompletionRequest | ChatRequest, limits: Limits) -> list[Prompt]:
    """The prompts of a request, of lengths that are worth tokenizing."""
    if isinstance(request, ChatRequest):
        if len(request.messages) > limits.messages:
            raise refused(f"at most {limits.messages} messages are allowed", "messages")
        messages = [{"role": m.role, "content": _content(m.content)} for m in request.messages]
        _check_size(sum(len(m["content"]) for m in messages), limits, "messages")
        return [messages]
    given: Any = request.prompt
    prompts = [given] if isinstance(given, str) or isinstance(given[0], int) else list(given)
    if len(prompts) > limits.prompts:
        raise refused(f"at most {limits.prompts} prompts are allowed in a request", "prompt")
    for prompt in prompts:
        size = len(prompt) * (1 if isinstance(prompt, str) else CHARACTERS_A_TOKEN)
        _check_size(size, limits, "prompt")
    return prompts


def _content(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.text for part in content)


def _check_size(characters: int, limits: Limits, param: str) -> None:
    if characters > limits.prompt_tokens * CHARACTERS_A_TOKEN:
        raise _too_long(limits, param)


def _check_lengths(lengths: Sequence[int], limits: Limits) -> None:
    if max(lengths) > limits.prompt_tokens:
        raise _too_long(limits, "prompt")


def _check_trace(cells: int, limits: Limits) -> None:
    if cells > limits.trace_cells:
        said = f"a trace of {cells} steps x positions is more than the {limits.trace_cells} allowed"
        raise refused(said, "focore.trace")


def _too_long(limits: Limits, param: str) -> ApiError:
    said = f"the prompt is longer than the {limits.prompt_tokens} tokens that are allowed"
    return refused(said, param, "context_length_exceeded")


def check_defaults(settings: ServeSettings, model: Model) -> None:
    """Refuse defaults that would make an ordinary request fail."""
    check_numbers(settings.options)
    Plan.make(model, settings.method, 0, settings.options)
    try:
        _plan(settings, model, Common(model=settings.served), Extras())
    except ApiError as error:
        raise OptionError(error.message) from None


def _plan(settings: ServeSettings, model: Model, request: Common, extras: Extras) -> Plan:
    """The method with the server's defaults that suit it, and over them what the request says."""
    method = find(extras.method or settings.method)
    own: dict[str, Any] = dict(extras.model_extra or {})
    for name, where in SAID_ELSEWHERE.items():
        if name in own:
            raise refused(f"focore.{name} is said as {where}, beside focore", f"focore.{name}")
    check_numbers(own)
    known = {**options_of(Settings), **method.options}
    options = {"gen_length": min(known["gen_length"].default, settings.limits.tokens)}
    options |= {name: value for name, value in settings.options.items() if name in known}
    if not method.caches:
        options.pop("cache", None)
    options |= own
    if isinstance(options.get("fixed"), dict):
        options["fixed"] = offsets(options["fixed"])
    options |= _sampling(request)
    plan = Plan.make(model, method.name, request.seed or 0, options)
    _check_tokens(plan, settings.limits)
    return plan


def _sampling(request: Common) -> dict[str, Any]:
    """What OpenAI has words for, by our names."""
    length = request.max_tokens
    if isinstance(request, ChatRequest) and request.max_completion_tokens is not None:
        if length not in (None, request.max_completion_tokens):
            raise refused("max_tokens and max_completion_tokens differ", "max_tokens")
        length = request.max_completion_tokens
    said = {"gen_length": length, "temperature": request.temperature, "top_p": request.top_p}
    return {name: value for name, value in said.items() if value is not None}


def _check_tokens(plan: Plan, limits: Limits) -> None:
    length, steps = plan.settings.gen_length, plan.settings.steps or 0
    if length > limits.tokens:
        raise refused(f"max_tokens={length} is more than the {limits.tokens} allowed", "max_tokens")
    if steps > limits.tokens:
        raise refused(f"steps={steps} is more than the {limits.tokens} allowed", "focore.steps")
