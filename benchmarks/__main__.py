"""`make bench`: every figure a ratio, measured side by side in this run.

    python -m benchmarks [--quick] [--only exact batching cheaper]

The full form takes about twenty minutes on two quiet cores and writes
docs/performance/speed.json and the tables of docs/performance.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from focore.model.memory import keep_freed_memory

from .batching import batching
from .cheaper import cheaper
from .figures import HEAD, Figure, matmul_peak, write
from .shapes import BALANCED, HEAVY
from .speed import all_of

PAGE, NUMBERS = Path("docs/performance.md"), Path("docs/performance/speed.json")
SETTING = "prompt 128, generation 128, block 32"


def sections(quick: bool, steps: int, repeats: int) -> dict[str, Callable[[], list[Figure]]]:
    """What is measured, by title; quick: a small shape and few prompts, to see that it runs."""
    if quick:
        return {
            "exact": lambda: all_of("small", 4, 1),
            "batching": lambda: batching(4, 1),
            "cheaper": lambda: cheaper("small", 1, 4),
        }
    return {
        f"exact: {HEAVY}, {SETTING}": lambda: all_of(HEAVY, steps, repeats),
        f"exact: {BALANCED}, {SETTING}": lambda: all_of(BALANCED, steps, repeats),
        "batching: the shipped model": lambda: batching(256, min(repeats, 2)),
        f"cheaper: {BALANCED}, prompt 256, generation 256, one block of 32": lambda: cheaper(
            BALANCED, min(repeats, 2)
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes; writes nothing")
    parser.add_argument("--only", nargs="*", help="exact, batching, cheaper; writes nothing")
    parser.add_argument("--steps", type=int, default=8, help="steps of a decode")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    keep_freed_memory()  # as `focore.load` does; these models are not loaded
    peak = matmul_peak()
    print(f"matrix products: {peak:.0f} GFLOP/s", flush=True)
    found = {}
    for title, measure in sections(given.quick, given.steps, given.repeats).items():
        if given.only and title.split(":")[0] not in given.only:
            continue
        print(f"\n{title}\n\n{HEAD}", flush=True)
        found[title] = measure()
        print("\n".join(figure.line() for figure in found[title]), flush=True)
    if not given.quick and not given.only:
        write(found, peak, NUMBERS, PAGE)


if __name__ == "__main__":
    main()
