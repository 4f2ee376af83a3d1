"""The requests that are understood, as OpenAI has them, and what each field may say.

A field of OpenAI's that is not supported is declared with its neutral value only, so that anything
else is refused by name and never ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from ..decoding.methods import TABLE
from ..decoding.options import Option, Settings, options_of
from .limits import LARGEST, STOP_CHARACTERS, STOPS

SAID_ELSEWHERE = {
    "gen_length": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "stop": "stop",
}


def _is_false(value: bool) -> bool:
    if value:
        raise ValueError("not supported")
    return value


One = Annotated[int, Field(ge=1, le=1)]
Zero = Annotated[float, Field(ge=0, le=0)]
No = Annotated[bool, AfterValidator(_is_false), WithJsonSchema({"type": "boolean", "const": False})]
NoItems = Annotated[list[Any], Field(max_length=0)]
NoEntries = Annotated[dict[str, Any], Field(max_length=0)]
TokenId = Annotated[int, Field(ge=0, lt=2**31)]
StopString = Annotated[str, Field(min_length=1, max_length=STOP_CHARACTERS)]
Stops = StopString | Annotated[list[StopString], Field(max_length=STOPS)]
Tokens = Annotated[int, Field(ge=1, le=2**31)]
Metadata = Annotated[dict[str, str], Field(max_length=16)]
TokenIds = Annotated[list[TokenId], Field(min_length=1, fail_fast=True)]
Prompts = (
    str
    | TokenIds
    | Annotated[list[str], Field(min_length=1, fail_fast=True)]
    | Annotated[list[TokenIds], Field(min_length=1, fail_fast=True)]
)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _declare_options(schema: dict[str, Any]) -> None:
    """Every option of every method, for readers of the OpenAPI description."""
    found = dict(options_of(Settings))
    for method in TABLE:
        found |= method.options
    for name, item in found.items():
        if name not in SAID_ELSEWHERE:
            schema["properties"][name] = option_schema(item)
    schema["additionalProperties"] = False


def option_schema(item: Option) -> dict[str, Any]:
    """An option as JSON Schema."""
    kinds: dict[type, list[str]] = {
        int: ["integer"], float: ["number"], bool: ["boolean"], str: ["string"], dict: ["object"],
    }  # fmt: skip
    types = kinds.get(item.kind, ["string", "array"])
    said: dict[str, Any] = {"description": item.about, "default": item.default}
    said["type"] = [*types, "null"] if item.default is None else types
    if item.choices:
        said["enum"] = list(item.choices)
    if item.kind in (int, float):
        bounds = {"minimum": item.low, "exclusiveMinimum": item.above}
        bounds["maximum"] = LARGEST if item.high is None else item.high
        said |= {name: bound for name, bound in bounds.items() if bound is not None}
    return said


class Extras(BaseModel):
    """What OpenAI's API has no word for: the method, its options, what to stream."""

    model_config = ConfigDict(extra="allow", strict=True, json_schema_extra=_declare_options)

    method: Annotated[str, Field(max_length=64)] | None = None
    stream: Literal["text", "steps"] = "text"
    trace: bool = False
    chat: bool | None = None  # whether a plain prompt goes into the chat template


class StreamOptions(Strict):
    include_usage: bool = False
    include_obfuscation: No | None = None


class TextFormat(Strict):
    type: Literal["text"]


class Common(Strict):
    """What both kinds of completion take."""

    model: Annotated[str, Field(max_length=256)]
    max_tokens: Tokens | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    stop: Stops | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    focore: Extras | None = None
    user: str | None = None  # said for the server's own use, and not used
    n: One | None = None
    presence_penalty: Zero | None = None
    frequency_penalty: Zero | None = None
    logit_bias: NoEntries | None = None


class CompletionRequest(Common):
    """`POST /v1/completions`."""

    prompt: Prompts
    best_of: One | None = None
    echo: No | None = None
    logprobs: None = None
    suffix: None = None


class TextPart(Strict):
    type: Literal["text"]
    text: str


class Message(Strict):
    role: Literal["system", "user", "assistant", "developer"]
    content: str | Annotated[list[TextPart], Field(min_length=1, fail_fast=True)]
    name: None = None
    refusal: None = None
    audio: None = None
    function_call: None = None
    tool_calls: NoItems | None = None


class ChatRequest(Common):
    """`POST /v1/chat/completions`."""

    messages: Annotated[list[Message], Field(min_length=1, fail_fast=True)]
    max_completion_tokens: Tokens | None = None
    logprobs: No | None = None
    top_logprobs: None = None
    response_format: TextFormat | None = None
    tools: NoItems | None = None
    tool_choice: Literal["none"] | None = None
    parallel_tool_calls: No | None = None
    functions: NoItems | None = None
    function_call: Literal["none"] | None = None
    modalities: Annotated[list[Literal["text"]], Field(min_length=1, max_length=1)] | None = None
    audio: None = None
    prediction: None = None
    reasoning_effort: None = None
    verbosity: None = None
    web_search_options: None = None
    service_tier: Literal["auto", "default"] | None = None
    store: No | None = None
    metadata: Metadata | None = None  # these three are said for the server's own use, and not used
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None


USED = {
    "model", "prompt", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p",
    "seed", "stop", "stream", "stream_options", "focore", "user", "metadata", "prompt_cache_key",
    "safety_identifier",
}  # fmt: skip
UNSUPPORTED = (set(ChatRequest.model_fields) | set(CompletionRequest.model_fields)) - USED
