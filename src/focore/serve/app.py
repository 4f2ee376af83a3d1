"""The application, made from its settings alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from .errors import ApiError, refused
from .openapi import describe
from .page import router as page_router
from .routes import router
from .security import Guard, Outermost, reply
from .service import Service
from .settings import ServeSettings


def create_app(
    settings: ServeSettings | None = None,
    on_failure: Callable[[Exception], None] | None = None,
) -> FastAPI:
    """The server as an ASGI application; the model is loaded when it starts.

    `on_failure` is told, on another thread, if the model does not load.
    """
    settings = settings or ServeSettings()
    service = Service(settings, on_failure)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        service.stop()

    app = FastAPI(
        title="FoCore",
        version="1",
        lifespan=lifespan,
        middleware=_middleware(settings, service),
        exception_handlers={
            ApiError: _api_error,
            HTTPException: _http_error,
            RequestValidationError: _invalid,
        },
        redirect_slashes=False,
        docs_url=None,  # the usual one fetches its script from elsewhere
        redoc_url=None,
    )
    app.state.service = service
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]
    app.include_router(router)
    app.include_router(page_router())
    return app


def _middleware(settings: ServeSettings, service: Service) -> list[Middleware]:
    found = [Middleware(Outermost, metrics=service.metrics)]
    if settings.cors:
        found.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(settings.cors),
                allow_methods=["GET", "POST"],
                allow_headers=["*"],
            )
        )
    guard = Middleware(Guard, limits=settings.limits, key=settings.api_key, hosts=settings.hosts)
    return [*found, guard]


async def _api_error(request: Request, error: Any) -> JSONResponse:
    return reply(error)


async def _http_error(request: Request, error: Any) -> JSONResponse:
    """No such route, or not by that verb."""
    said = {404: "there is nothing at this address", 405: "not by this method"}
    message = said.get(error.status_code, "the request cannot be answered")
    return reply(ApiError(error.status_code, message, headers=error.headers))


async def _invalid(request: Request, error: Any) -> JSONResponse:
    return reply(refused("the request is not valid"))
