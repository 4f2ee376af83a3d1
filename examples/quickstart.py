"""Load a model, ask one question and then several."""

from __future__ import annotations

import sys

import focore

QUESTIONS = [
    "A hall has 6 rows of 9 chairs. 205 people come. How many have no chair?",
    "Use 48, 9, 62 once each to make 23.",
    "What is 109-3+76?",
]


def main(source: str = "tiny") -> None:
    model = focore.load(source)  # or a checkpoint folder, or a Hub id
    answer = focore.generate(model, QUESTIONS[0], method="focore", gen_length=32)
    print(answer.text)
    print(f"{answer.steps} steps, {answer.passes} passes, {answer.seconds:.2f} seconds\n")

    # A list is decoded in batches; each answer is the one that it would be alone.
    for question, answer in zip(
        QUESTIONS, focore.generate(model, QUESTIONS, method="focore", gen_length=32), strict=True
    ):
        print(f"{question}\n  {answer.text.splitlines()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
