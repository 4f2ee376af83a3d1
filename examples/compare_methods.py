"""The same questions by several methods: what each answers, and what it costs."""

from __future__ import annotations

import sys

import focore

QUESTIONS = ["What is 65+18?", "Use 90, 66, 5 once each to make 19."]
METHODS = {
    "confidence": {},
    "threshold": {"threshold": 0.9},
    "cfg": {"guidance_scale": 0.3},
    "focore": {"core_tokens": 4},
    "focore_a": {"core_tokens": 4, "burst": "repeat"},
}


def main(source: str = "tiny") -> None:
    model = focore.load(source)
    for question in QUESTIONS:
        print(question)
        for method, options in METHODS.items():
            answer = focore.generate(model, question, method=method, gen_length=24, **options)
            last = answer.text.strip().splitlines()[-1:] or [""]
            print(f"  {method:10} {answer.steps:2} steps {answer.passes:2} passes  {last[0]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
