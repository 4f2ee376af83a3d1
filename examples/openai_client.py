"""Ask a server (`focore serve`) with OpenAI's own client: an answer, a stream, and its steps."""

from __future__ import annotations

import sys

from openai import OpenAI

QUESTION = "A hall has 6 rows of 9 chairs. 205 people come. How many have no chair?"


def main(url: str = "http://127.0.0.1:8000/v1", key: str = "none") -> None:
    client = OpenAI(base_url=url, api_key=key)
    model = client.models.list().data[0].id
    asked = {"model": model, "messages": [{"role": "user", "content": QUESTION}], "max_tokens": 32}

    # What OpenAI's API has no word for goes under "focore": the method, and any of its options.
    own = {"focore": {"method": "focore", "core_tokens": 8}}
    answer = client.chat.completions.create(**asked, extra_body=own)
    print(f"model: {model}\n{answer.choices[0].message.content}")
    print(f"{answer.usage.completion_tokens} tokens, {answer.focore['passes']} passes")

    # A stream has final text only: everything before the first open position.
    print("streamed: ", end="")
    for chunk in client.chat.completions.create(**asked, stream=True):
        print((chunk.choices[0].delta.content or "") if chunk.choices else "", end="")
    print()

    # With "steps", every denoising step comes, None where the answer is still open.
    steps = {"focore": {"method": "focore", "stream": "steps"}}
    for chunk in client.chat.completions.create(**asked, stream=True, extra_body=steps):
        step = getattr(chunk, "focore", None) or {}
        if "canvas" in step:
            print("step", step["step"], "".join(piece or "_" for piece in step["canvas"]).split())


if __name__ == "__main__":
    main(*sys.argv[1:])
