"""The official client, unchanged, against the server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import openai
import pytest

import focore
from focore.loading import Model
from focore.serve.limits import Limits
from focore.serve.settings import ServeSettings
from tests.serve.live import PATIENCE, Live, until

MESSAGES: Any = [{"role": "user", "content": "Ann has four red apples. How many?"}]


@pytest.fixture(scope="module")
def client(live: Live) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{live.url}/v1", api_key="any", max_retries=0) as made:
        yield made


def extra(**options: Any) -> dict[str, Any]:
    return {"focore": options}


def test_the_models(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["small"]
    assert client.models.retrieve("small").owned_by == "focore"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("large")


def test_a_completion_is_that_of_a_single_run(client: openai.OpenAI, model: Model) -> None:
    made = client.completions.create(model="small", prompt="Bob has", max_tokens=12, seed=3)
    alone = focore.generate(model, "Bob has", chat=False, gen_length=12, seed=3)
    assert made.choices[0].text == alone.text
    assert made.choices[0].finish_reason in ("stop", "length")
    assert made.usage and made.usage.prompt_tokens == len(model.text.plain("Bob has"))  # type: ignore[union-attr]
    assert made.model_extra and made.model_extra["focore"]["steps"] == alone.steps
    assert made.model_extra["focore"]["passes"] == alone.passes
    assert made.model_extra["focore"]["options"] == alone.options


def test_a_chat_with_options_is_that_of_a_single_run(client: openai.OpenAI, model: Model) -> None:
    made = client.chat.completions.create(
        model="small",
        messages=MESSAGES,
        max_completion_tokens=10,
        temperature=0.7,
        top_p=0.9,
        seed=5,
        extra_body=extra(method="focore_a", core_tokens=2, block_length=5),
    )
    alone = focore.generate(
        model, MESSAGES, method="focore_a", core_tokens=2, block_length=5, gen_length=10,
        temperature=0.7, top_p=0.9, seed=5,
    )  # fmt: skip
    assert made.choices[0].message.content == alone.text
    assert made.choices[0].message.role == "assistant"


def test_several_prompts_are_several_choices(client: openai.OpenAI, model: Model) -> None:
    prompts: Any = ["Ann", "Bob has", "Ann"]
    options: Any = {"gen_length": 6, "temperature": 1.0}
    made = client.completions.create(model="small", prompt=prompts, max_tokens=6, temperature=1)
    alone = focore.generate(model, prompts, chat=False, **options)
    assert [choice.index for choice in made.choices] == [0, 1, 2]
    assert [choice.text for choice in made.choices] == [one.text for one in alone]
    ids: Any = [[5, 6, 7], [8, 9]]
    made = client.completions.create(model="small", prompt=ids, max_tokens=6, stream=False)
    alone = focore.generate(model, ids, gen_length=6)
    assert [choice.text for choice in made.choices] == [one.text for one in alone]


@pytest.mark.parametrize("kind", ["text", "steps"])
def test_a_stream_adds_up_to_the_answer(client: openai.OpenAI, model: Model, kind: str) -> None:
    stream = client.chat.completions.create(
        model="small", messages=MESSAGES, max_tokens=16, stream=True,
        stream_options={"include_usage": True}, extra_body=extra(stream=kind),
    )  # fmt: skip
    chunks = list(stream)
    alone = focore.generate(model, MESSAGES, gen_length=16)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == alone.text
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason in ("stop", "length")
    assert chunks[-1].usage and not chunks[-1].choices
    whole = client.chat.completions.create(model="small", messages=MESSAGES, max_tokens=16)
    assert whole.usage == chunks[-1].usage
    assert whole.choices[0].finish_reason == chunks[-2].choices[0].finish_reason


def test_a_completion_streams_too(client: openai.OpenAI, model: Model) -> None:
    stream = client.completions.create(model="small", prompt="Ann", max_tokens=8, stream=True)
    text = "".join(chunk.choices[0].text for chunk in stream)
    assert text == focore.generate(model, "Ann", chat=False, gen_length=8).text


@pytest.mark.parametrize("method", [m for m in focore.METHODS if not m.startswith("mask_")])
def test_what_was_streamed_is_never_taken_back(live: Live, model: Model, method: str) -> None:
    sampled: dict[str, Any] = {"temperature": 1.0, "seed": 3}
    body = {"model": "small", "prompt": "Ann has", "max_tokens": 12, "stream": True, **sampled}
    chunks = live.events("/v1/completions", {**body, "focore": {"method": method}})
    text = "".join(chunk["choices"][0]["text"] for chunk in chunks)
    single = focore.generate(model, "Ann has", method=method, gen_length=12, chat=False, **sampled)
    assert text == single.text


def test_a_servers_defaults_suit_every_request(settings: ServeSettings) -> None:
    chosen = replace(settings, limits=Limits(tokens=8), options={"cache": "dual"})
    with Live(chosen) as live:
        for method in ("confidence", "soar"):
            body = {"model": "small", "prompt": "Ann", "focore": {"method": method}}
            answer = live.post("/v1/completions", body).json()
            assert answer["focore"]["options"]["gen_length"] == 8
            cache = {"confidence": "dual", "soar": "none"}[method]
            assert answer["focore"]["options"]["cache"] == cache


def test_the_asynchronous_client_works(live: Live, model: Model) -> None:
    async def ask() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{live.url}/v1", api_key="any") as client:
            asked = [
                client.completions.create(model="small", prompt=f"Ann {i}", max_tokens=6)
                for i in range(8)
            ]
            return [made.choices[0].text for made in await asyncio.gather(*asked)]

    alone = [focore.generate(model, f"Ann {i}", chat=False, gen_length=6) for i in range(8)]
    assert asyncio.run(ask()) == [one.text for one in alone]


def test_a_stop_string_ends_an_answer_early(client: openai.OpenAI, model: Model) -> None:
    text = focore.generate(model, "Ann", chat=False, gen_length=32, block_length=4).text
    stop = text[len(text) // 2 : len(text) // 2 + 2]
    asked: Any = {"model": "small", "prompt": "Ann", "max_tokens": 32, "stop": [stop]}
    asked["extra_body"] = extra(block_length=4)
    made = client.completions.create(**asked)
    alone = focore.generate(model, "Ann", chat=False, gen_length=32, block_length=4, stop=stop)
    assert made.choices[0].text == alone.text == text[: text.index(stop)]
    assert made.choices[0].finish_reason == "stop"
    assert made.usage and made.usage.completion_tokens < 32
    streamed = client.completions.create(**asked, stream=True)
    assert "".join(chunk.choices[0].text for chunk in streamed) == alone.text


def test_mistakes_are_the_clients_errors(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="tools is not supported") as caught:
        client.chat.completions.create(
            model="small", messages=MESSAGES,
            tools=[{"type": "function", "function": {"name": "f"}}],
        )  # fmt: skip
    assert caught.value.param == "tools"
    with pytest.raises(openai.BadRequestError, match="did you mean 'focore_a'"):
        client.completions.create(model="small", prompt="A", extra_body=extra(method="focore_b"))
    with pytest.raises(openai.NotFoundError, match="not served here") as missing:
        client.completions.create(model="gpt-5", prompt="A")
    assert missing.value.code == "model_not_found"


def test_a_wrong_key_is_an_authentication_error(settings: ServeSettings) -> None:
    with Live(replace(settings, api_key="sesame")) as live:
        wrong = openai.OpenAI(base_url=f"{live.url}/v1", api_key="simsim", max_retries=0)
        with wrong, pytest.raises(openai.AuthenticationError):
            wrong.models.list()
        right = openai.OpenAI(base_url=f"{live.url}/v1", api_key="sesame", max_retries=0)
        with right:
            assert right.models.list().data


def test_a_client_that_does_not_wait_leaves_nothing_behind(live: Live) -> None:
    impatient = openai.OpenAI(base_url=f"{live.url}/v1", api_key="any", max_retries=0, timeout=0.3)
    with live.held() as release, impatient:
        with pytest.raises(openai.APITimeoutError):
            impatient.completions.create(model="small", prompt="Ann", max_tokens=64)
        release()
        until(lambda: live.idle)


def test_a_stream_that_is_closed_ends_its_row(client: openai.OpenAI, live: Live) -> None:
    before = live.count("focore_rows_total", end="cancelled")
    stream = client.completions.create(
        model="small", prompt="Ann", max_tokens=400, stream=True, extra_body=extra(stream="steps")
    )
    next(iter(stream))
    stream.close()
    until(lambda: live.idle)
    assert live.count("focore_rows_total", end="cancelled") == before + 1


def test_a_full_queue_is_a_rate_limit(settings: ServeSettings) -> None:
    narrow = replace(settings, limits=Limits(rows=1, waiting=1))
    with Live(narrow) as live, live.held() as release:
        url = f"{live.url}/v1"
        with openai.OpenAI(base_url=url, api_key="any", max_retries=0, timeout=PATIENCE) as client:
            streams = []
            for count in (1, 2):
                made = client.completions.create(
                    model="small", prompt="Ann", max_tokens=4, stream=True
                )
                streams.append(made)
                until(
                    lambda n=count: live.service.engine.running + live.service.engine.waiting == n
                )  # type: ignore[misc]
                until(lambda: live.service.engine.running == 1)
            with pytest.raises(openai.RateLimitError) as caught:
                client.completions.create(model="small", prompt="Ann", max_tokens=4)
            assert int(caught.value.response.headers["retry-after"]) >= 1
            release()
            assert all("".join(c.choices[0].text for c in stream) for stream in streams)


def test_a_request_that_takes_too_long_is_told(settings: ServeSettings) -> None:
    hasty = replace(settings, limits=Limits(request_seconds=0.2))
    with Live(hasty) as live, live.held():
        client = openai.OpenAI(base_url=f"{live.url}/v1", api_key="any")
        with client, pytest.raises(openai.InternalServerError) as caught:
            client.completions.create(model="small", prompt="Ann", max_tokens=4)
        assert caught.value.status_code == 504 and caught.value.code == "timeout"
        assert live.count("focore_requests_total", path="/v1/completions", status="504") == 1
        client = openai.OpenAI(base_url=f"{live.url}/v1", api_key="any")
        with client, pytest.raises(openai.APIError, match="took longer"):
            list(client.completions.create(model="small", prompt="Ann", stream=True))
