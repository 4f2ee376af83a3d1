"""The OpenAPI description, from the same models that read the requests."""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from .schema import ChatRequest, CompletionRequest

REFERENCE = "#/components/schemas/{model}"
TEXT = {"type": ["string", "null"]}
ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": TEXT,
                "code": TEXT,
            },
        }
    },
}
SAID = {"$ref": REFERENCE.format(model="Error")}
FAILURES = {
    code: {"description": about, "content": {"application/json": {"schema": SAID}}}
    for code, about in (("4XX", "a mistake of the client"), ("5XX", "not now"))
}
ANSWER = {
    "type": "object",
    "required": ["id", "object", "created", "model", "choices", "usage", "focore"],
    "properties": {"choices": {"type": "array", "minItems": 1, "items": {"type": "object"}}},
}


def takes(kind: type[BaseModel]) -> dict[str, Any]:
    """A route that takes such a body, which it reads itself, and answers whole or in events."""
    body = {"schema": {"$ref": REFERENCE.format(model=kind.__name__)}}
    whole = {"description": "the answer, or its events", "content": {
        "application/json": {"schema": ANSWER}, "text/event-stream": {}}}  # fmt: skip
    return {
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": {"200": whole},
    }


def describe(app: FastAPI) -> dict[str, Any]:
    """The description, made once."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, routes=app.routes)
        kinds: Any = [(kind, "validation") for kind in (ChatRequest, CompletionRequest)]
        _, schemas = models_json_schema(kinds, ref_template=REFERENCE)
        made["components"] = {"schemas": {**schemas["$defs"], "Error": ERROR}}
        for operation in _operations(made):
            operation["responses"].pop("422", None)
            operation["responses"] |= FAILURES
        app.openapi_schema = made
    return app.openapi_schema


def _operations(description: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in description["paths"].values() for operation in path.values()]


def page(description: dict[str, Any]) -> str:
    """The description for people, with nothing fetched from elsewhere."""
    parts = [f"<h1>{escape(description['info']['title'])}: the API</h1>"]
    parts.append('<p>For programs: <a href="/openapi.json">/openapi.json</a>.</p>')
    for path, verbs in description["paths"].items():
        for verb, operation in verbs.items():
            about = escape(operation.get("description", ""))
            parts.append(f"<h2><code>{verb.upper()} {escape(path)}</code></h2><p>{about}</p>")
    for name, schema in description["components"]["schemas"].items():
        if "properties" in schema:
            parts.append(f'<h2 id="{escape(name)}">{escape(name)}</h2>{_table(schema)}')
    style = "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    style += "td,th{text-align:left;vertical-align:top;padding:.2em .8em .2em 0}"
    head = f'<meta charset="utf-8"><title>FoCore: the API</title><style>{style}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>'


def _table(schema: dict[str, Any]) -> str:
    rows = []
    for name, field in schema["properties"].items():
        about = escape(str(field.get("description", "")))
        rows.append(
            f"<tr><td><code>{escape(name)}</code></td><td>{escape(_kind(field))}</td>"
            f"<td>{about}</td></tr>"
        )
    return f"<table><tr><th>field</th><th>value</th><th></th></tr>{''.join(rows)}</table>"


def _kind(field: dict[str, Any]) -> str:
    """What a field may hold, in a few words."""
    if "anyOf" in field:
        return " or ".join(_kind(option) for option in field["anyOf"])
    if "$ref" in field:
        return str(field["$ref"].rpartition("/")[2])
    for key in ("const", "enum"):
        if key in field:
            return str(field[key])
    kind = field.get("type", "any")
    bounds = [f"{k} {field[k]}" for k in ("minimum", "maximum", "maxItems") if k in field]
    return ", ".join([kind if isinstance(kind, str) else " or ".join(kind), *bounds])
