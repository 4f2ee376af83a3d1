"""Bodies into requests; every mistake is a line that says what and where."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json

from ..errors import unknown
from .errors import ApiError, refused
from .schema import UNSUPPORTED

Asked = TypeVar("Asked", bound=BaseModel)
EXPECTED = {
    "prompt": "a string, a list of strings, a list of token ids, or a list of such lists",
    "stop": "a string of 1 to 256 characters, or a list of at most 4 of them",
    "messages.content": "a string, or a list of text parts",
}
LONGEST = 80  # characters of a client's own words in an answer


def read(body: bytes, kind: type[Asked]) -> Asked:
    """The request in a body."""
    try:
        value = from_json(body, allow_inf_nan=False)
        json.dumps(value, allow_nan=False)  # 1e999 is read as infinity
    except ValueError as error:
        raise refused(
            f"the body is not valid JSON: {_reason(error)}", code="invalid_json"
        ) from None
    if not isinstance(value, dict):
        raise refused("the body must be a JSON object", code="invalid_json")
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise _refused(first, kind) from None


def _reason(error: ValueError) -> str:
    said = str(error)
    return "a number is infinite" if "Out of range float" in said else said[:200]


def _refused(error: ErrorDetails, kind: type[BaseModel]) -> ApiError:
    """What is wrong with the first field that is."""
    loc = error["loc"]
    param = ".".join(str(part) for part in loc)[:LONGEST]
    top = str(loc[0]) if loc else ""
    if top in UNSUPPORTED:
        return refused(f"{top} is not supported by this server; leave it out", top, "unsupported")
    if error["type"] == "extra_forbidden" and len(loc) == 1:
        said = str(unknown("field", top[:LONGEST], kind.model_fields))
        return refused(said, param, "unknown_field")
    if error["type"] == "extra_forbidden":
        return refused(f"{param} is not a field that is known here", param, "unknown_field")
    if error["type"] == "missing":
        return refused(f"{param} is missing", param, "missing_field")
    names = [str(part) for part in loc if isinstance(part, str)]
    for path in (".".join(names[:2]), top):
        if path in EXPECTED:
            return refused(f"{path} must be {EXPECTED[path]}", path, "invalid_value")
    return refused(f"{param}: {_plain(error['msg'])}", param, "invalid_value")


def _plain(message: str) -> str:
    return message[:1].lower() + message[1:200]
