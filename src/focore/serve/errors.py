"""What goes wrong, in the shape that OpenAI's clients expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NO_RETRY = {"x-should-retry": "false"}  # OpenAI's clients ask again on 5xx unless told so


class ApiError(Exception):
    """An answer that is an error."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ):
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind
        self.param, self.code, self.headers = param, code, dict(headers or {})

    def body(self) -> dict[str, Any]:
        said = {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}
        return {"error": said}


def refused(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """A mistake of the client."""
    return ApiError(400, message, param=param, code=code)


def busy(seconds: int) -> ApiError:
    return ApiError(
        429,
        f"too many requests are waiting; try again in {seconds} s",
        kind="rate_limit_error",
        code="queue_full",
        headers={"Retry-After": str(seconds)},
    )


def unavailable(message: str, code: str) -> ApiError:
    return ApiError(503, message, kind="server_error", code=code, headers={"Retry-After": "5"})


def stopping() -> ApiError:
    return unavailable("the server is stopping", "stopping")


def loading() -> ApiError:
    return unavailable("the model is still loading", "loading")


def failed() -> ApiError:
    """What a client is told of a failure of ours; the log has the rest."""
    return ApiError(
        500,
        "the answer could not be decoded; the server's log has the reason",
        kind="server_error",
        code="internal_error",
        headers=NO_RETRY,
    )


def timed_out(seconds: float) -> ApiError:
    return ApiError(
        504,
        f"the request took longer than the {seconds:g} s that this server allows",
        kind="server_error",
        code="timeout",
        headers=NO_RETRY,
    )
