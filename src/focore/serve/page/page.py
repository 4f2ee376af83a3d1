"""The page and its assets; nothing else is fetched, nothing inline runs but a trace page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fastapi import APIRouter, HTTPException, Response

from ...trace.page import LEGEND, embedded, inline_hashes
from ...trace.page import asset as trace_asset
from ...version import __version__

SHARED = ("shared.css", "shared.js")  # with the trace page
OWN = ("chat.css", "api.js", "options.js", "answer.js", "chat.js", "icon.svg")
TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
HEADERS = {"Cache-Control": "no-cache"}


def router() -> APIRouter:
    """The routes of the page; they need no key."""
    routes = APIRouter(include_in_schema=False)

    @routes.head("/")
    @routes.get("/")
    def index() -> Response:
        policy = {"Content-Security-Policy": content_policy()}
        return Response(html(), media_type="text/html", headers=HEADERS | policy)

    @routes.get("/assets/{name}")
    def asset(name: str) -> Response:
        if name not in SHARED + OWN:
            raise HTTPException(404)
        kind = TYPES[name.rpartition(".")[2]]
        return Response(_part(name), media_type=kind, headers=HEADERS)

    return routes


@cache
def content_policy() -> str:
    """Only our own files, and the style and script of a trace page, known by their hashes.

    A trace page is opened from memory, since a link cannot carry the key, and what is opened from
    memory is under the policy of the page that opened it.
    """
    style, script = inline_hashes()
    return (
        f"default-src 'none'; style-src 'self' {style}; script-src 'self' {script}; "
        "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


@cache
def html() -> str:
    """The page, with what its script has to know."""
    data = embedded({"version": __version__, "bands": LEGEND})
    return _part("index.html").replace("{{data}}", data)


@cache
def _part(name: str) -> str:
    if name in SHARED:
        return trace_asset(name)
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")
