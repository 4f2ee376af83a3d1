"""The page as it is served: its parts, its policy, and that it is open to all."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from focore.serve.app import create_app
from focore.serve.page.page import OWN, SHARED, html
from focore.serve.settings import ServeSettings


@pytest.fixture(scope="module")
def client() -> TestClient:
    """A client of a server that has no model yet and asks for a key."""
    return TestClient(create_app(ServeSettings(api_key="secret")))


def test_the_page_needs_no_key_and_its_policy_lets_nothing_in(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == allowed["base-uri"] == allowed["form-action"] == "'none'"
    assert allowed["connect-src"] == allowed["img-src"] == "'self'"
    assert re.fullmatch(r"'self' 'sha256-[\w+/]{43}='", allowed["script-src"])
    assert re.fullmatch(r"'self' 'sha256-[\w+/]{43}='", allowed["style-src"])
    assert client.get("/v1/methods").status_code == 401


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/health", 200), ("/ready", 503)])
def test_a_probe_may_ask_for_the_head_alone(client: TestClient, path: str, status: int) -> None:
    answer = client.head(path)
    assert answer.status_code == status and answer.content == b""


def test_every_part_that_the_page_names_is_there(client: TestClient) -> None:
    named = re.findall(r'(?:src|href)="([^"]+)"', html())
    assert {f"assets/{name}" for name in SHARED + OWN} == set(named)
    kinds = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    for name in named:
        answer = client.get(f"/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kinds[name.rpartition(".")[2]])


@pytest.mark.parametrize("name", ["page.py", "index.html", "..%2Fpage.py", "x", ""])
def test_nothing_else_is_given_away(client: TestClient, name: str) -> None:
    assert client.get(f"/assets/{name}").status_code == 404


def test_nothing_runs_inline_and_nothing_comes_from_elsewhere(client: TestClient) -> None:
    parts = [html(), *(client.get(f"/assets/{name}").text for name in SHARED + OWN)]
    assert not re.search(r"\son\w+=|\sstyle=|<style|<script>|javascript:", html())
    for part in parts:
        assert set(re.findall(r"https?://[^\"' ]+", part)) <= {"http://www.w3.org/2000/svg"}
        assert not re.search(r"@import|url\(|innerHTML|insertAdjacentHTML|\beval\b", part)
