"""`make findings`: the figures of docs/findings, and the numbers in docs/findings.md."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .markers import between

PAGE, FOLDER = Path("docs/findings.md"), Path("docs/findings")
CLAIMS = {
    "collapsed": (
        "1",
        "the confidence of HD tokens collapses more often than that of LD tokens",
        1,
    ),
    "drop": ("2", "HD tokens depend more on the prompt than LD tokens", 1),
    "step": ("3", "HD tokens are decoded earlier than LD tokens", -1),
}  # name: finding, claim, the sign of HD less LD if it holds


def verdict(gap: Mapping[str, float], sign: int) -> str:
    """What a difference and its 95% interval say of a claim."""
    low, high = sorted((sign * (gap["value"] - gap["half"]), sign * (gap["value"] + gap["half"])))
    return "holds" if low > 0 else "is reversed" if high < 0 else "cannot be told from chance"


def measured(summary: Mapping[str, Any], minutes: float) -> str:
    """The generated part of the page."""
    drop, order, lost = (
        summary[name] for name in ("drop_at_half", "decoded_at_half", "collapsed_at_half")
    )
    high, low = (
        f"{drop[kind]['mean']:.3f} ± {drop[kind]['half_interval']:.3f}" for kind in ("HD", "LD")
    )
    lines = [
        f"{summary['answers']} answers with {summary['hd_tokens']} HD and {summary['ld_tokens']} "
        f"LD tokens, measured in {minutes:.1f} minutes.\n",
        "| at half of the prompt masked, half of the steps | HD | LD |",
        "| --- | ---: | ---: |",
        f"| tokens that lose more than 0.5 in probability | {lost['HD']:.1%} | {lost['LD']:.1%} |",
        f"| mean drop in probability (95% over answers) | {high} | {low} |",
        f"| decoded after half of the steps | {order['HD']:.1%} | {order['LD']:.1%} |",
        "",
        "| finding | HD less LD within an answer (95%) | answers | on this model |",
        "| --- | ---: | ---: | --- |",
    ]
    for name, (number, claim, sign) in CLAIMS.items():
        gap = summary["differences"][name]
        lines.append(
            f"| {number}: {claim} | {gap['value']:+.3f} ± {gap['half']:.3f} | {gap['count']} "
            f"| {verdict(gap, sign)} |"
        )
    lines += ["", "| task | core and HD | only core | only HD | neither | kappa |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: |")
    for task, cells in summary["agreement"].items():
        counts = (cells[key] for key in ("both", "only_automatic", "only_linguistic", "neither"))
        lines.append(f"| {task} | {' | '.join(map(str, counts))} | {cells['kappa']:.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=100, help="of each of the two tasks")
    parser.add_argument("--out", type=Path, default=FOLDER, help="the folder of the figures")
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    begin = time.perf_counter()
    subprocess.run(
        [
            *(sys.executable, "-m", "focore.cli", "analyze"),
            *("-o", str(given.out), "--problems", str(given.problems)),
        ],
        check=True,
    )
    summary = json.loads((given.out / "summary.json").read_text())
    block = measured(summary, (time.perf_counter() - begin) / 60)
    between(given.page, "measured", block)
    print(block)


if __name__ == "__main__":
    main()
