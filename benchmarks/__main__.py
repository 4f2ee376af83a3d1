"""`make bench`: every figure a ratio, measured side by side in this run."""

from __future__ import annotations

import argparse

from .speed import SHAPES, against_naive, matmul_peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--shape", nargs="*", default=list(SHAPES))
    given = parser.parse_args()
    print(f"matrix products: {matmul_peak():.0f} GFLOP/s\n")
    print("| what | median | range | target |\n| --- | ---: | ---: | --- |")
    for shape in given.shape:
        for ratio in against_naive(shape, given.steps, given.repeats):
            print(ratio.line(), flush=True)


if __name__ == "__main__":
    main()
