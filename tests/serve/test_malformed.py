"""Whatever is sent, the answer says what is wrong with it and is never a failure of ours."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from focore.serve.limits import Limits
from focore.serve.schema import UNSUPPORTED, ChatRequest
from focore.serve.settings import ServeSettings
from tests.serve.live import PATIENCE, Live

COMPLETIONS, CHAT = "/v1/completions", "/v1/chat/completions"
PROMPT = {"model": "small", "prompt": "Ann", "max_tokens": 2}
MESSAGES = {"model": "small", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2}


@pytest.fixture(scope="module")
def strict(settings: ServeSettings) -> Iterator[Live]:
    limits = Limits(
        tokens=32, prompt_tokens=40, messages=3, prompts=2, body_bytes=20_000, body_seconds=0.5,
        trace_cells=100,
    )  # fmt: skip
    with Live(replace(settings, limits=limits)) as server:
        yield server


def refused(live: Live, path: str, body: Any, status: int, *words: str) -> dict[str, Any]:
    answer = live.post(path, body)
    said: dict[str, Any] = answer.json()["error"]
    assert answer.status_code == status, said
    assert set(said) == {"message", "type", "param", "code"}
    for word in words:
        assert word in said["message"], said
    assert "Traceback" not in answer.text and "/" not in said["message"].replace("application/", "")
    return said


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "valid JSON"),
        (b"{", "valid JSON"),
        (b"[]", "object"),
        (b'"Ann"', "object"),
        (b'{"model": "small", "prompt": "\xff"}', "valid JSON"),
        (b'{"model": "small", "prompt": "\\ud800"}', "valid JSON"),
        (b'{"model": "small", "prompt": "A", "temperature": NaN}', "valid JSON"),
        (b'{"model": "small", "prompt": "A", "temperature": Infinity}', "valid JSON"),
        (b'{"model": "small", "prompt": "A", "temperature": 1e999}', "infinite"),
        (b'{"model": "small", "prompt": "A", "focore": {"guidance_scale": 1e999}}', "infinite"),
        (b'{"model": "small", "prompt": "A", "seed": ' + b"9" * 5000 + b"}", "valid JSON"),
        (b'{"a":' * 3000 + b"1" + b"}" * 3000, "valid JSON"),
        (b'{"model": "small", "prompt": "A", "focore": {"x": ' + b"[" * 900 + b"]" * 900 + b"}}",
         "valid JSON"),
    ],
)  # fmt: skip
def test_what_is_no_json(strict: Live, body: bytes, words: str) -> None:
    refused(strict, COMPLETIONS, body, 400, words)


@pytest.mark.parametrize(
    ("change", "param", "words"),
    [
        ({"prompt": 3}, "prompt", "prompt must be a string"),
        ({"prompt": []}, "prompt", "prompt must be a string"),
        ({"prompt": [1, "a"]}, "prompt", "prompt must be a string"),
        ({"prompt": [[]]}, "prompt", "prompt must be a string"),
        ({"prompt": [True]}, "prompt", "prompt must be a string"),
        ({"prompt": [300]}, None, "token id 300"),
        ({"prompt": [2**70]}, "prompt", "prompt must be"),
        ({"prompt": [1]}, None, "mask token"),
        ({"prompt": ["a", "b", "c"]}, "prompt", "at most 2 prompts"),
        ({"prompt": "Ann " * 60}, "prompt", "longer than the 40 tokens"),
        ({"prompt": "A" * 10_000}, "prompt", "longer than the 40 tokens"),
        ({"prompt": [5] * 41}, "prompt", "longer than the 40 tokens"),
        ({"max_tokens": 0}, "max_tokens", "greater than or equal to 1"),
        ({"max_tokens": 33}, "max_tokens", "more than the 32 allowed"),
        ({"max_tokens": 10**30}, "max_tokens", ""),
        ({"max_tokens": "8"}, "max_tokens", "valid integer"),
        ({"max_tokens": 2.5}, "max_tokens", "valid integer"),
        ({"temperature": -1}, "temperature", "greater than or equal to 0"),
        ({"temperature": 2.5}, "temperature", "less than or equal to 2"),
        ({"temperature": True}, "temperature", "valid number"),
        ({"top_p": 0}, "top_p", "greater than 0"),
        ({"seed": -1}, "seed", "greater"),
        ({"seed": 2**63}, "seed", "less"),
        ({"stop": ""}, "stop", "stop must be"),
        ({"stop": ["a"] * 5}, "stop", "stop must be"),
        ({"stream": "yes"}, "stream", "valid boolean"),
        ({"stream_options": {"include_usage": True}}, "stream_options", "only for streams"),
        ({"stream": True, "stream_options": {"x": 1}}, "stream_options.x", "not a field"),
        ({"temprature": 1}, "temprature", "did you mean 'temperature'?"),
        ({"n": 2}, "n", "n is not supported"),
        ({"n": True}, "n", "n is not supported"),
        ({"logprobs": 0}, "logprobs", "logprobs is not supported"),
        ({"echo": True}, "echo", "echo is not supported"),
        ({"suffix": "."}, "suffix", "suffix is not supported"),
        ({"best_of": 3}, "best_of", "best_of is not supported"),
        ({"presence_penalty": 0.5}, "presence_penalty", "presence_penalty is not supported"),
        ({"logit_bias": {"5": 1}}, "logit_bias", "logit_bias is not supported"),
        ({"focore": 5}, "focore", ""),
        ({"focore": {"method": "focor"}}, None, "did you mean 'focore'?"),
        ({"focore": {"method": 7}}, "focore.method", "string"),
        ({"focore": {"stream": "all"}}, "focore.stream", "'text' or 'steps'"),
        ({"focore": {"core_token": 3}}, None, "did you mean 'core_tokens'?"),
        ({"focore": {"core_tokens": "3"}}, None, "whole number"),
        ({"focore": {"core_tokens": 10**30}}, None, "not allowed above"),
        ({"focore": {"guidance_scale": 1e300}}, None, "not allowed above"),
        ({"focore": {"method": "soar", "beam_width": 500}}, None, "not allowed above 8"),
        ({"focore": {"method": "prophet", "thresholds": [1, 2]}}, None, "three numbers"),
        ({"focore": {"steps": 33}}, "focore.steps", "more than the 32 allowed"),
        ({"focore": {"gen_length": 8}}, "focore.gen_length", "max_tokens"),
        ({"focore": {"fixed": {"x": "a"}}}, None, "offset 'x'"),
        ({"focore": {"fixed": {"9": "a"}}}, None, "outside the answer"),
        ({"focore": {"prefix": {"a": 1}}}, None, "type dict"),
        ({"focore": {"trace": True}, "prompt": ["a", "b"]}, "focore.trace", "one prompt"),
        ({"focore": {"trace": True}, "stop": "."}, "focore.trace", "leave out stop"),
        ({"focore": {"trace": True}, "max_tokens": 30}, "focore.trace", "than the 100 allowed"),
        ({"focore": {"prefix": [50_000]}}, None, "50000"),
        ({"model": "gpt-5"}, "model", "not served"),
        ({"model": None}, "model", "string"),
    ],
)  # fmt: skip
def test_what_a_completion_cannot_say(
    strict: Live, change: dict[str, Any], param: str | None, words: str
) -> None:
    status = 404 if change.get("model") else 400
    said = refused(strict, COMPLETIONS, {**PROMPT, **change}, status, words)
    assert said["param"] == param


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "at least 1"),
        ("Hi", "list"),
        ([{"role": "user"}], "content is missing"),
        ([{"role": "robot", "content": "Hi"}], "role"),
        ([{"role": "user", "content": 7}], "a string, or a list of text parts"),
        ([{"role": "user", "content": None}], "a string, or a list of text parts"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "text parts"),
        ([{"role": "tool", "content": "x"}], "role"),
        ([{"role": "user", "content": "Hi", "colour": 1}], "not a field"),
        ([{"role": "user", "content": "a"}] * 4, "at most 3 messages"),
        ([{"role": "user", "content": "b" * 10_000}], "longer than the 40 tokens"),
    ],
)
def test_what_a_chat_cannot_say(strict: Live, messages: Any, words: str) -> None:
    refused(strict, CHAT, {**MESSAGES, "messages": messages}, 400, words)


@pytest.mark.parametrize("field", sorted(UNSUPPORTED & set(ChatRequest.model_fields)))
def test_no_field_of_openai_is_ignored(strict: Live, field: str) -> None:
    for value in ({"x": 1}, [{"x": 1}], 7, "x"):
        said = refused(strict, CHAT, {**MESSAGES, field: value}, 400, f"{field} is not supported")
        assert said["param"] == field


def test_neutral_values_are_accepted(strict: Live) -> None:
    neutral = {
        "n": 1, "presence_penalty": 0, "frequency_penalty": 0.0, "logit_bias": {}, "tools": [],
        "tool_choice": "none", "response_format": {"type": "text"}, "logprobs": False,
        "top_logprobs": None, "store": False, "user": "me", "metadata": {"a": "b"},
        "service_tier": "auto", "parallel_tool_calls": False, "modalities": ["text"],
        "stop": None, "seed": None, "stream": False,
    }  # fmt: skip
    assert strict.post(CHAT, {**MESSAGES, **neutral}).status_code == 200
    neutral = {"n": 1, "best_of": 1, "echo": False, "logprobs": None, "suffix": None}
    assert strict.post(COMPLETIONS, {**PROMPT, **neutral}).status_code == 200


def test_text_parts_are_joined(strict: Live) -> None:
    parts = [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]
    made = strict.post(CHAT, {**MESSAGES, "messages": [{"role": "user", "content": parts}]})
    plain = strict.post(CHAT, MESSAGES)
    assert made.json()["choices"] == plain.json()["choices"]


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": 5e-324}, {"top_p": 5e-324}, {"temperature": 2, "top_p": 1e-9},
        {"focore": {"guidance_scale": 10_000}}, {"focore": {"method": "random", "top_k": 1}},
        {"focore": {"steps": 1}}, {"focore": {"steps": 32, "schedule": "dream"}},
        {"focore": {"method": "klass", "history_length": 64}}, {"focore": {"prefix": "An"}},
        {"focore": {"fixed": {"1": " six"}}, "max_tokens": 8}, {"prompt": ""},
        {"prompt": "\u0000\u202e😀"}, {"focore": {"method": "cfg", "cache": "dual"}},
    ],
)  # fmt: skip
def test_what_is_odd_but_allowed(strict: Live, options: dict[str, Any]) -> None:
    answer = strict.post(COMPLETIONS, {**PROMPT, **options})
    assert answer.status_code == 200, answer.text


def test_what_is_not_json_by_its_own_word(strict: Live) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = strict.post(COMPLETIONS, PROMPT, **{"content-type": kind})
        assert answer.status_code == 415 and "application/json" in answer.json()["error"]["message"]


def test_a_large_body_is_refused_however_it_comes(strict: Live) -> None:
    large = json.dumps({**PROMPT, "prompt": "x" * 10_000_000}).encode()
    assert "20000 bytes" in refused(strict, COMPLETIONS, large, 413)["message"]
    with socket.create_connection(("127.0.0.1", strict.port), timeout=PATIENCE) as raw:
        head = "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        raw.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
        for _ in range(30):
            raw.sendall(b"3e8\r\n" + b"x" * 1000 + b"\r\n")
        raw.sendall(b"0\r\n\r\n")
        assert b" 413 " in raw.recv(4096)
    with socket.create_connection(("127.0.0.1", strict.port), timeout=PATIENCE) as raw:
        raw.sendall((head + f"Content-Length: {10**12}\r\n\r\n").encode())
        assert b" 413 " in raw.recv(4096)


def test_a_slow_body_is_not_waited_for(strict: Live) -> None:
    with socket.create_connection(("127.0.0.1", strict.port), timeout=PATIENCE) as raw:
        head = "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        raw.sendall((head + "Content-Length: 100\r\n\r\n").encode())
        for _ in range(3):
            raw.sendall(b"{")
            time.sleep(0.05)
        answer = raw.recv(4096)
    assert b" 408 " in answer and b"did not arrive within 0.5 s" in answer


def test_other_addresses_and_verbs(strict: Live) -> None:
    assert (
        refused(strict, "/v1/embeddings", {}, 404)["message"] == "there is nothing at this address"
    )
    assert strict.get(COMPLETIONS).status_code == 405
    assert strict.get(COMPLETIONS).headers["allow"] == "POST"
    assert strict.get("/v1/traces/none").json()["error"]["code"] == "trace_not_found"


def test_bytes_that_are_no_request(strict: Live) -> None:
    for junk in (b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"POST\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", strict.port), timeout=PATIENCE) as raw:
            raw.sendall(junk)
            assert raw.recv(4096)[:12] in (b"HTTP/1.1 400", b"")
    assert strict.get("/ready").status_code == 200
