"""Watch an answer denoise: one frame a step, open positions as dots, core tokens in brackets."""

from __future__ import annotations

import sys

import focore

QUESTION = "Noah has 22 seeds and loses 11 seeds. He sells the others for $6 each. How much?"


def drawn(model: focore.Model, frame: focore.Frame) -> str:
    """The answer after a step, on one line."""
    assert model.text is not None
    pieces = model.text.pieces(frame.tokens)
    shown = []
    for place in range(frame.start, len(pieces)):
        piece = "." if frame.tokens[place] == model.mask_id else pieces[place].replace("\n", "/")
        shown.append(f"[{piece}]" if frame.notes["core"][place] else piece)
    return "".join(shown)


def main(source: str = "tiny") -> None:
    model = focore.load(source)
    for frame in focore.stream(model, QUESTION, method="focore", gen_length=24):
        print(f"{frame.index:3} +{frame.passes} passes  {drawn(model, frame)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
