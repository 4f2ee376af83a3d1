"""Safe by default: keys, hosts, origins, headers, and what is not said."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from focore.serve.logs import JsonLines
from focore.serve.settings import ServeSettings
from focore.serve.traces import Traces
from tests.serve.live import Live

PROMPT = {"model": "small", "prompt": "Ann has", "max_tokens": 4}
KEY = "sésame"


@pytest.fixture(scope="module")
def guarded(settings: ServeSettings) -> Iterator[Live]:
    chosen = replace(
        settings, api_key=KEY, cors=("https://page.example",), hosts=("127.0.0.1", "LocalHost")
    )
    with Live(chosen) as server:
        yield server


def bearer(key: str, scheme: str = "Bearer") -> dict[str, Any]:
    return {"authorization": f"{scheme} {key}".encode()}


def test_the_key_guards_the_api_and_the_counts(guarded: Live) -> None:
    for path in ("/v1/models", "/v1/methods", "/metrics", "/v1/traces/x", "/v1/nothing"):
        assert guarded.get(path).status_code == 401, path
    for wrong in ({}, bearer("wrong"), bearer(KEY, "Basic"), bearer("\u00ff")):
        answer = guarded.post("/v1/completions", PROMPT, **wrong)
        assert answer.status_code == 401
        assert answer.json()["error"]["type"] == "authentication_error"
        assert answer.headers["www-authenticate"] == "Bearer"
    for path in ("/", "/health", "/ready", "/docs", "/openapi.json"):
        assert guarded.get(path).status_code == 200, path


def test_the_key_is_compared_as_bytes(guarded: Live) -> None:
    answer = guarded.get("/v1/models", **bearer(KEY))
    assert answer.status_code == 200
    assert guarded.post("/v1/completions", PROMPT, **bearer(KEY)).status_code == 200


def test_only_known_names_of_the_server(guarded: Live) -> None:
    assert guarded.get("/health", host="evil.example").status_code == 400
    assert guarded.get("/health", host=f"LOCALHOST:{guarded.port}").status_code == 200


def test_only_named_origins_may_read(guarded: Live, live: Live) -> None:
    ours = guarded.get("/health", origin="https://page.example")
    assert ours.headers["access-control-allow-origin"] == "https://page.example"
    theirs = guarded.get("/health", origin="https://evil.example")
    assert "access-control-allow-origin" not in theirs.headers
    closed = live.get("/health", origin="https://page.example")
    assert "access-control-allow-origin" not in closed.headers


def test_answers_say_little_of_the_server(live: Live, settings: ServeSettings) -> None:
    for answer in (live.get("/health"), live.get("/nothing"), live.post("/v1/completions", {})):
        assert "server" not in answer.headers
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert len(answer.headers["x-request-id"]) == 32
        assert settings.model not in answer.text
    traced = live.post("/v1/completions", {**PROMPT, "focore": {"trace": True}}).json()
    page = live.get(traced["focore"]["trace"])
    assert settings.model not in page.text and "small" in page.text


def test_a_failure_of_ours_says_nothing_of_itself(
    live: Live, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("secret")

    monkeypatch.setattr("focore.serve.routes.Following", broken)
    with caplog.at_level(logging.ERROR, "focore"):
        answer = live.post("/v1/completions", PROMPT)
    assert answer.status_code == 500 and "secret" not in answer.text
    assert answer.json()["error"]["type"] == "server_error"
    assert "secret" in caplog.text


def test_a_trace_is_a_page(live: Live) -> None:
    asked = {**PROMPT, "focore": {"trace": True, "method": "confidence"}}
    made = live.post("/v1/completions", asked).json()
    page = live.get(made["focore"]["trace"])
    assert page.status_code == 200 and page.text.startswith("<!doctype html>")
    plain = live.post("/v1/completions", {**PROMPT, "focore": {"method": "confidence"}}).json()
    assert made["choices"] == plain["choices"] and plain["focore"]["trace"] is None


@pytest.mark.parametrize(("count", "size"), [(2, 1000), (1000, 8)])
def test_the_last_traces_are_kept(count: int, size: int) -> None:
    traces = Traces(count, size)
    names = [traces.keep(f"pge{n}") for n in range(3)]
    assert [traces.find(name) for name in names] == [None, b"pge1", b"pge2"] and len(traces) == 2


def test_a_folder_is_called_by_its_name_whatever_becomes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    given = ServeSettings(model=str(folder))
    monkeypatch.chdir(folder)
    here = ServeSettings(model=".")
    folder.rmdir()
    assert given.served == here.served == "mine"
    assert ServeSettings(model="org/model").served == "org/model"
    assert replace(given, name="other").served == "other"


@pytest.mark.parametrize("told", [False, True])
def test_prompts_are_in_the_log_only_if_asked(
    settings: ServeSettings, caplog: pytest.LogCaptureFixture, told: bool
) -> None:
    with (
        caplog.at_level(logging.INFO, "focore"),
        Live(replace(settings, log_prompts=told)) as live,
    ):
        live.post("/v1/completions", {**PROMPT, "prompt": "apples and pears"})
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    answered = next(line for line in lines if line["event"] == "answered")
    assert answered["method"] == "focore" and answered["completion_tokens"] <= 4
    assert ("apples and pears" in json.dumps(lines)) is told
    request = next(line for line in lines if line["event"] == "request")
    assert request["status"] == 200 and request["path"] == "/v1/completions"


def test_the_counts_are_prometheus(live: Live) -> None:
    live.post("/v1/completions", PROMPT)
    text = live.get("/metrics").text
    assert 'focore_requests_total{path="/v1/completions",status="200"}' in text
    for name in ("focore_rows_running 0.0", "focore_rows_waiting 0.0", "focore_step_rows_count"):
        assert name in text
    assert "process_resident_memory_bytes" in text
