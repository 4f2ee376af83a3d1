"""The server against its own description, with generated requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from focore.serve.limits import Limits
from focore.serve.settings import ServeSettings
from tests.serve.live import Live

CHECKS: Any = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
]


@pytest.fixture(scope="module")
def generous(folder: Path) -> Iterator[Live]:
    """Short answers, so that many requests fit into a test."""
    limits = Limits(tokens=12)
    chosen = ServeSettings(model=str(folder), limits=limits, options={"gen_length": 4})
    with Live(chosen) as server:
        yield server


def bombard(live: Live, examples: int) -> int:
    """Send generated requests, right ones and wrong ones, to every route; how many there were."""
    schema = schemathesis.openapi.from_url(f"{live.url}/openapi.json")
    sent = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        posts = operation.method.lower() == "post"
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE) if posts else (None,):
            chosen = {"generation_mode": mode} if mode else {}

            @given(case=operation.as_strategy(**chosen))
            @settings(
                max_examples=examples if posts else max(1, examples // 10),
                deadline=None,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate],
            )
            def send(case: Any) -> None:
                nonlocal sent
                sent += 1
                case.call_and_validate(checks=CHECKS)

            send()
    return sent


def test_no_generated_request_fails(generous: Live) -> None:
    assert bombard(generous, 40) > 150


@pytest.mark.slow
def test_thousands_of_generated_requests_do_not_fail(generous: Live) -> None:
    assert bombard(generous, 1500) > 6000


def test_the_description_names_every_route_and_option(generous: Live) -> None:
    made = generous.get("/openapi.json").json()
    assert {"/v1/completions", "/v1/chat/completions", "/v1/models", "/metrics"} <= set(
        made["paths"]
    )
    extras = made["components"]["schemas"]["Extras"]["properties"]
    assert extras["core_tokens"]["minimum"] == 0 and extras["schedule"]["enum"] == ["even", "dream"]
    page = generous.get("/docs")
    assert "POST /v1/chat/completions" in page.text and "core_tokens" in page.text
    assert "src=" not in page.text and "http" not in page.text


def test_the_methods_are_told_with_their_options(generous: Live) -> None:
    from focore import METHODS

    made = {method["name"]: method for method in generous.get("/v1/methods").json()}
    assert set(made) == set(METHODS)
    options = {option["name"]: option for option in made["focore_a"]["options"]}
    assert options["burst"]["choices"] == ["finish", "once", "repeat"]
    assert options["core_tokens"]["default"] == 8 and not options["core_tokens"]["common"]
    assert options["steps"]["common"] and "gen_length" not in options


def test_the_model_is_told_with_the_servers_defaults(generous: Live) -> None:
    settings = generous.service.settings
    (told,) = generous.get("/v1/models").json()["data"]
    assert told["id"] == settings.served
    assert told["focore"] == {"method": settings.method, "options": settings.options}
