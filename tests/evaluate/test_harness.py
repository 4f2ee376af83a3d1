"""The model as lm-evaluation-harness sees it."""

from __future__ import annotations

from typing import Any

import pytest
from lm_eval.api.instance import Instance
from lm_eval.api.registry import get_model

from focore import Model, OptionError, generate
from focore.evaluate.harness import Harness
from focore.evaluate.requests import ChatText, RequestOptions, split_pair


def asks(*arguments: Any, kind: str = "generate_until") -> list[Instance]:
    return [
        Instance(kind, {}, each, 0, metadata=("task", place, 1))  # type: ignore[arg-type]
        for place, each in enumerate(arguments)
    ]


def test_registered() -> None:
    assert get_model("focore") is Harness


def test_answers_are_those_of_generate(raw_model: Model) -> None:
    prompts = ["Ann has four apples.", "How many?", "Ann has four apples.", "Bob"]
    made = Harness(raw_model, "random", 12, seed=3, batch_size=2, temperature=0.7)
    found = made.generate_until(asks(*((prompt, {"until": []}) for prompt in prompts)))
    expected = generate(
        raw_model, prompts, method="random", gen_length=12, seed=3, temperature=0.7, chat=False
    )
    assert found == [completion.text for completion in expected]
    assert found[0] != found[2]  # a repeated prompt is another sample
    kept = list(made.kept.records.values())
    assert [line["steps"] for line in kept] == [12] * 4
    assert all(line["passes"] == 12 and line["seconds"] > 0 for line in kept)


def test_stop_strings_cut_after_end_tokens(raw_model: Model) -> None:
    made = Harness(raw_model, "confidence", 12)
    (whole,) = made.generate_until(asks(("Ann has", {"until": []})))
    assert len(whole) > 3
    fresh = Harness(raw_model, "confidence", 12)
    (cut,) = fresh.generate_until(asks(("Ann has", {"until": [whole[2:4], "never", ""]})))
    assert cut == whole[: whole.index(whole[2:4])]


def test_chat_template_and_the_beginning_of_the_answer(model: Model) -> None:
    made = Harness(model, "confidence", 8)
    assert made.text.tokenizer.chat_template == made.chat_template(True)
    messages = [{"role": "user", "content": "Ann"}, {"role": "assistant", "content": "Bob has"}]
    context = made.apply_chat_template(messages, add_generation_prompt=False)
    assert isinstance(context, ChatText)
    assert context == "<|start|>user\nAnn<|eot_id|><|start|>assistant\nBob has"
    assert (context.prompt + context.prefix, context.prefix) == (context, "Bob has")
    (found,) = made.generate_until(asks((context, {"until": []})))
    prefix = len(made.text.plain("Bob has"))
    expected = generate(
        model,
        "Ann",
        method="confidence",
        gen_length=8 + prefix,
        steps=8,
        prefix="Bob has",
    )
    assert found == made.text.answer(expected.tokens[prefix:])
    (record,) = made.kept.records.values()
    assert (len(record["tokens"]), record["steps"]) == (8, 8)


def test_lengths_and_sampling_of_the_task(raw_model: Model) -> None:
    made = Harness(raw_model, "random", seed=1)
    made.generate_until(asks(("Ann", {"until": [], "max_gen_toks": 5}), ("Bob", {})))
    lengths = [len(line["tokens"]) for line in made.kept.records.values()]
    assert lengths == [5, 128]
    options = RequestOptions.read({"until": "x", "temperature": 0.5, "do_sample": False})
    assert (options.until, options.sampling) == (("x",), {})
    assert RequestOptions.read({"temperature": 0.5, "do_sample": True}).sampling == {
        "temperature": 0.5
    }
    with pytest.raises(OptionError, match="'temprature'; did you mean 'temperature'"):
        RequestOptions.read({"temprature": 1})


def test_long_prompts_lose_their_front(raw_model: Model) -> None:
    made = Harness(raw_model, "confidence", 8)
    limit = raw_model.denoiser.max_length
    job = made._job(made.plan(8), "Ann has four red apples " * 200 + "Bob")
    assert len(job.prompt) == limit - 8
    assert made.text.decode(job.prompt).endswith("Bob")
    with pytest.raises(OptionError, match="leaves no room"):
        made._job(made.plan(limit), "Ann")


def test_wrong_options_are_said_at_once(model: Model) -> None:
    with pytest.raises(OptionError, match="guidance_scale"):
        Harness(model, "focore", guidance_scal=1)
    with pytest.raises(OptionError, match="prefix is not an option"):
        Harness(model, "focore", prefix="x")
    with pytest.raises(OptionError, match="did you mean 'focore'"):
        Harness(model, "focor")


def test_pairs() -> None:
    encode = lambda text: [ord(letter) for letter in text]  # noqa: E731
    assert split_pair(encode, "ab ", "c") == (encode("ab"), encode(" c"))
    assert split_pair(encode, "", "c") == ([], encode("c"))
    chat = ChatText.made("ab", "x")
    assert split_pair(lambda t: encode(getattr(t, "prompt", t)), chat, "c") == (
        encode("abx"),
        encode("c"),
    )


def test_likelihood_requests(raw_model: Model) -> None:
    pairs = [("Ann has four", " apples"), ("Ann has four", " pears and six red ones"), ("", "Bob")]
    made = Harness(raw_model, likelihood_samples=32)
    found = made.loglikelihood(asks(*pairs, kind="loglikelihood"))
    assert all(value < 0 for value, _ in found)
    assert found == Harness(raw_model, likelihood_samples=32).loglikelihood(
        asks(*pairs, kind="loglikelihood")
    )
    (rolling,) = made.loglikelihood_rolling(asks(("Bob",), kind="loglikelihood_rolling"))
    assert rolling == pytest.approx(found[2][0])
    long = "Ann has four red apples and Bob has two pears. " * 60
    (value,) = made.loglikelihood_rolling(asks((long,), kind="loglikelihood_rolling"))
    assert value < 100 * rolling / 10
