"""Fill blanks: anywhere in a text, or around what an answer must contain."""

from __future__ import annotations

import sys

import focore


def main(source: str = "tiny") -> None:
    model = focore.load(source)

    # [MASK] is one token, [MASK:n] is n. What is given stays as it is.
    text = "What is 65+18?\n[MASK:3]=83\nThe answer is 83"
    filled = focore.infill(model, text, method="confidence")
    print(filled.text, "\nblanks:", filled.blanks)

    # Fixed text at an offset of the answer, in tokens; the model writes before it and after it.
    question = "A hall has 6 rows of 9 chairs. 205 people come. How many have no chair?"
    answer = focore.generate(model, question, method="focore", gen_length=32, prefix="6*9=")
    print(answer.text)


if __name__ == "__main__":
    main(*sys.argv[1:])
