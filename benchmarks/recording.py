"""What recording a run costs: the same run recorded and not, taken in turns.

    python -m benchmarks.recording [--methods confidence focore] [--tokens 512] [--repeats 5]

On the shipped model, as many steps as tokens. Recorded with S the run may take a tenth longer.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import focore
from focore.trace import record, save

from .figures import HEAD, Figure, interleaved, ratios

PROMPT = "Ann has 4 apples and buys 3 more. How many apples does she have?"
METHODS = ("confidence", "focore")
AT_MOST = 1.1


def calls(
    model: focore.Model, method: str, tokens: int, file: Path
) -> dict[str, Callable[[], object]]:
    """A run without a record, with one (and its file written), and with one that leaves S out."""

    def recorded(watch: bool) -> None:
        save(record(model, PROMPT, method=method, gen_length=tokens, watch=watch), file)

    return {
        "bare": lambda: focore.generate(model, PROMPT, method=method, gen_length=tokens),
        "with S": lambda: recorded(True),
        "without S": lambda: recorded(False),
    }


def recording(methods: Sequence[str], tokens: int, repeats: int) -> Iterator[Figure]:
    """Recorded over bare, by method."""
    model = focore.load("tiny")
    # Positions are computed, not looked up: past its training length the model talks nonsense, in
    # the same time.
    model.denoiser.max_length = max(model.denoiser.max_length, tokens + 128)
    with tempfile.TemporaryDirectory() as folder:
        for method in methods:
            made = calls(model, method, tokens, Path(folder) / "run.npz")
            seconds = interleaved(made, repeats + 1)  # the first round warms up
            seconds = {name: rounds[1:] for name, rounds in seconds.items()}
            for name in ("with S", "without S"):
                title = f"{method}: recorded {name} / bare, {tokens} tokens and steps"
                values = ratios(seconds[name], seconds["bare"])
                yield Figure(title, values, None, AT_MOST)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    print(HEAD)
    for figure in recording(given.methods, given.tokens, given.repeats):
        print(figure.line(), flush=True)


if __name__ == "__main__":
    main()
