"""The routes of the API."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from ..decoding.methods import TABLE
from ..decoding.options import Option, Settings, options_of
from .errors import ApiError
from .following import Following, Gone
from .openapi import describe, page, takes
from .reading import read
from .schema import SAID_ELSEWHERE, ChatRequest, CompletionRequest
from .service import Service
from .streams import EventStream
from .tickets import News

router = APIRouter()


def service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


@router.post("/v1/completions", openapi_extra=takes(CompletionRequest))
async def completions(request: Request) -> Response:
    """Go on with a text."""
    return await _answer(request, CompletionRequest)


@router.post("/v1/chat/completions", openapi_extra=takes(ChatRequest))
async def chat_completions(request: Request) -> Response:
    """Answer a chat."""
    return await _answer(request, ChatRequest)


async def _answer(request: Request, kind: type[CompletionRequest] | type[ChatRequest]) -> Response:
    kind_of_body = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind_of_body != "application/json":
        raise ApiError(415, "send JSON, with Content-Type: application/json", code="not_json")
    service = service_of(request)
    asked = await service.prepare(read(await request.body(), kind), _client(request))
    following = Following(service, asked)
    if asked.stream:
        return EventStream(following)
    try:
        await following.run(request.receive, _nothing)
    except Gone:
        return Response(status_code=499)  # nobody reads it
    return JSONResponse(following.answer.whole())


def _client(request: Request) -> str:
    return request.client.host if request.client else ""


async def _nothing(index: int, news: News | None, text: str) -> None:
    pass


@router.get("/v1/models")
async def models(request: Request) -> dict[str, Any]:
    """The model that is served, and the method and options of a request that names none."""
    return {"object": "list", "data": [_model(service_of(request))]}


@router.get("/v1/models/{name:path}")
async def model(request: Request, name: str) -> dict[str, Any]:
    """The model of that name."""
    service = service_of(request)
    if name != service.settings.served:
        raise ApiError(404, "no such model", param="model", code="model_not_found")
    return _model(service)


def _model(service: Service) -> dict[str, Any]:
    settings = service.settings
    made = {"id": settings.served, "object": "model", "owned_by": "focore"}
    defaults = {"method": settings.method, "options": settings.options}
    return {**made, "created": service.started, "focore": defaults}


@router.get("/v1/methods")
async def methods() -> list[dict[str, Any]]:
    """The decoding methods and their options."""
    common = [item for item in options_of(Settings).values() if item.name not in SAID_ELSEWHERE]
    return [
        {
            "name": method.name,
            "paper": method.paper,
            "rule": method.rule,
            "options": [
                *(_option(item, common=False) for item in method.options.values()),
                *(_option(item, common=True) for item in common),
            ],
        }
        for method in TABLE
    ]


def _option(item: Option, common: bool) -> dict[str, Any]:
    said: dict[str, Any] = {"name": item.name, "default": item.default, "help": item.about}
    limits = {"choices": list(item.choices) or None, "low": item.low, "high": item.high}
    limits["above"] = item.above
    said |= {name: value for name, value in limits.items() if value is not None}
    return {**said, "kind": item.kind.__name__, "common": common}


@router.get("/v1/traces/{name}", response_class=HTMLResponse)
async def trace(request: Request, name: str) -> HTMLResponse:
    """The page of an answer that was asked with `trace`."""
    html = service_of(request).traces.find(name)
    if html is None:
        raise ApiError(404, "no such trace; only the last ones are kept", code="trace_not_found")
    return HTMLResponse(html, headers={"Cache-Control": "no-store"})


@router.get("/docs", response_class=HTMLResponse, include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """What the API has, for people."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"
    html = page(describe(request.app))
    return HTMLResponse(html, headers={"Content-Security-Policy": policy})


@router.head("/health", include_in_schema=False)
@router.get("/health")
async def health() -> dict[str, str]:
    """Whether the server is alive."""
    return {"status": "alive"}


@router.head("/ready", include_in_schema=False)
@router.get("/ready", responses={503: {"description": "loading or stopping"}})
async def ready(request: Request) -> JSONResponse:
    """Whether it takes requests: 200, or 503 while it loads or stops."""
    service = service_of(request)
    status = "ready" if service.ready else "loading" if service.engine.open else "stopping"
    return JSONResponse({"status": status}, 200 if service.ready else 503)


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Counts, in Prometheus' text format."""
    return Response(service_of(request).metrics.text(), media_type="text/plain; version=0.0.4")
