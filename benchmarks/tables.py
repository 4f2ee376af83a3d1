"""The tables of docs/scaling.md, from what was measured and simulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .markers import replaced

Found = dict[str, Any]
MISSING = "Not measured yet: `python -m benchmarks.scaling` fills this in."


def fill(page: str, found: Found) -> str:
    """The page with each table between its two marks written anew."""
    for name, make in TABLES.items():
        page = replaced(page, name, make(found) if name in found else MISSING)
    return page


def costs(found: Found) -> str:
    head = ["method", "seconds of a step", "mean error", "worst", "steps a token", "overhead"]
    lines = []
    for method, cost in found["costs"].items():
        line = f"{1e3 * cost['fixed']:.2f} ms + {1e6 * cost['per_token']:.2f} us x tokens"
        share = [f"{cost['error']:.0%}", f"{cost['worst']:.0%}", f"{cost['steps_per_token']:.2f}"]
        outside = found.get("overhead", {}).get(method)
        lines.append([f"`{method}`", line, *share, "" if outside is None else _time(outside)])
    machine = found["machine"]
    said = f"{machine['cores']} cores, {machine['threads']} threads of PyTorch."
    return f"{said}\n\n{_table(head, lines)}"


def load(found: Found) -> str:
    head = ["method", "of capacity", "requests/s", "requests"]
    head += ["mean: predicted", "measured", "p95: predicted", "measured"]
    lines = [
        [
            f"`{line['method']}`", f"{line['share']:.0%}", f"{line['rate']:.1f}",
            str(line["requests"]),
            *(_time(line[f"{kind}_{what}"]) for what in ("mean", "p95")
              for kind in ("predicted", "measured")),
        ]
        for line in found["load"]
    ]  # fmt: skip
    return _table(head, lines)


def replicas(name: str) -> Callable[[Found], str]:
    """The table of a model's plan."""

    def make(found: Found) -> str:
        plans = found[name]
        rates = list(next(iter(plans.values()))["replicas"])
        head = ["method", "p95 alone", "requests/s of a replica"]
        head += [f"{int(rate):,}/s" for rate in rates]
        lines = [
            [f"`{method}`", _time(plan["alone"]), _short(plan["capacity"])]
            + [_count(plan["replicas"][rate]) for rate in rates]
            for method, plan in plans.items()
        ]
        target = next(iter(plans.values()))["target"]
        return f"Replicas for a p95 of {_time(target)}:\n\n{_table(head, lines)}"

    return make


def rows(found: Found) -> str:
    methods = list(next(iter(found["rows"].values())))
    head = ["rows side by side", *(f"`{method}`" for method in methods)]
    lines = [
        [count, *(_count(plans[method]["replicas"]) for method in methods)]
        for count, plans in found["rows"].items()
    ]
    return _table(head, lines)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def _count(number: int | None) -> str:
    """Three digits, rounded up: the simulation knows no more."""
    if number is None:
        return "none can"
    unit = 10 ** max(0, len(str(number)) - 3)
    return f"{math.ceil(number / unit) * unit:,}"


def _short(number: float) -> str:
    return f"{number:.3g}"


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


TABLES: dict[str, Callable[[Found], str]] = {
    "costs": costs,
    "load": load,
    "tiny": replicas("tiny"),
    "large": replicas("large"),
    "rows": rows,
}
