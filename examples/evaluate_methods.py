"""Accuracy of two methods on a benchmark, through lm-evaluation-harness (`focore[eval]`)."""

from __future__ import annotations

import sys

import focore
from focore.evaluate.evaluation import Evaluation
from focore.evaluate.run import evaluate


def main(source: str = "tiny", limit: str = "20", folder: str | None = None) -> None:
    asked = Evaluation(
        model=focore.load(source),
        tasks=["focore_arithmetic"],
        methods=["confidence", "threshold"],
        lengths=[32],
        limit=int(limit),
    )
    # With a folder every answer is kept there, and a run that was killed goes on where it was.
    for result in evaluate(asked, folder):
        row = result.row
        print(
            f"{row.method:10} {row.accuracy:.0%} +- {row.stderr:.0%} of {row.samples}, "
            f"{row.steps:.1f} steps and {row.passes:.1f} passes a sample"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
