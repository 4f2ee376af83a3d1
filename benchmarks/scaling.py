"""How many replicas a rate of requests needs, and whether the simulation is right about that.

    python -m benchmarks.scaling [RESULTS.json] [--parts costs load plan] [--docs docs/scaling.md]

`costs` times the engine's steps on the shipped model, `load` sends requests to a real server on
loopback at rates it should hold and compares, `plan` simulates 1 to 10,000 requests a second. What
is found goes into the JSON file, part by part, and as tables into the document. Run it on a machine
that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import focore
from focore.serve.limits import Limits
from focore.serve.simulate import (
    LLADA_8B,
    Counted,
    Linear,
    Service,
    Traffic,
    alone,
    capacity,
    lognormal,
    smallest,
)

from .costs import ANSWERS, ROWS, laid, measure, planned, problems
from .load import compare, overhead, server
from .tables import fill

METHODS = ("confidence", "focore", "focore_a")
RATES = (1, 10, 100, 1000, 10_000)
SHARES = (0.3, 0.6, 0.8)  # of the capacity
TINY_SECONDS, LARGE_SECONDS = 4.0, 12.0  # p95 that the plans keep
TINY_ANSWERS = (32, 32, 64)
LARGE = Traffic(lognormal(128, 0.8, 8, 1024), (128, 128, 256))
LARGE_ROWS = (1, 4, 16)
BURST = 27 / 32  # steps a token of FoCore_A: m = 5 more at the end of each block of 32
PASSES = {
    "confidence": Counted(LLADA_8B),
    "focore": Counted(LLADA_8B, passes=2, scored=True),
    "focore_a": Counted(LLADA_8B, passes=2, scored=True),
}
Found = dict[str, Any]


def tiny(found: Found, model: focore.Model, method: str) -> Service:
    """The shipped model as it was measured."""
    cost = found["costs"][method]
    rows = laid(planned(model, method, 1), problems(300))
    traffic = Traffic(tuple(row.start for row in rows), TINY_ANSWERS, cost["steps_per_token"])
    line = Linear(cost["fixed"], cost["per_token"])
    return Service(traffic, line, Limits().rows, found.get("overhead", {}).get(method, 0.0))


def large(method: str, rows: int = 1) -> Service:
    """The 8B model as it was counted."""
    steps = BURST if method == "focore_a" else 1.0
    return Service(Traffic(LARGE.prompts, LARGE.answers, steps), PASSES[method], rows)


def costs(found: Found, given: argparse.Namespace) -> None:
    model = focore.load("tiny")
    found["machine"] = {"cores": os.cpu_count(), "threads": torch.get_num_threads()}
    found["costs"] = {}
    for method in METHODS:
        found["costs"][method] = measure(model, method, ROWS, ANSWERS, given.repeats)
        print(f"costs {method}: {found['costs'][method]}", flush=True)


def load(found: Found, given: argparse.Namespace) -> None:
    model = focore.load("tiny")
    found["overhead"], found["load"] = {}, []
    with server("tiny") as address:
        for method in METHODS:
            bare = tiny(found, model, method)
            found["overhead"][method] = overhead(address, model, bare, method)
            service = tiny(found, model, method)
            for share in SHARES:
                rate = share * capacity(service)
                line = compare(address, model, service, method, rate, given.seconds)
                found["load"].append({"method": method, "share": share, **line})
                print(f"load {found['load'][-1]}", flush=True)


def plan(found: Found, given: argparse.Namespace) -> None:
    """The 8B model always; the shipped one if its costs are known."""
    found["large"] = {m: planned_for(large(m), LARGE_SECONDS) for m in METHODS}
    found["rows"] = {
        str(rows): {m: summary(large(m, rows), LARGE_SECONDS, 100) for m in METHODS}
        for rows in LARGE_ROWS
    }
    if "costs" in found:
        model = focore.load("tiny")
        found["tiny"] = {m: planned_for(tiny(found, model, m), TINY_SECONDS) for m in METHODS}


def planned_for(service: Service, target: float) -> Found:
    replicas = {str(rate): smallest(service, rate, target) for rate in RATES}
    return {"target": target, **_one(service), "replicas": replicas}


def summary(service: Service, target: float, rate: int) -> Found:
    return {**_one(service), "replicas": smallest(service, rate, target)}


def _one(service: Service) -> Found:
    return {"alone": alone(service), "capacity": capacity(service)}


PARTS: dict[str, Callable[[Found, argparse.Namespace], None]] = {
    "costs": costs,
    "load": load,
    "plan": plan,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", default=Path("docs/scaling.json"))
    parser.add_argument("--parts", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--docs", type=Path, default=Path("docs/scaling.md"))
    parser.add_argument("--repeats", type=int, default=5, help="runs of each shape")
    parser.add_argument("--seconds", type=float, default=60.0, help="of load at each rate")
    given = parser.parse_args()
    found: Found = json.loads(given.results.read_text()) if given.results.exists() else {}
    for part in given.parts:
        PARTS[part](found, given)
        given.results.write_text(json.dumps(found, indent=1) + "\n")
    given.docs.write_text(fill(given.docs.read_text(), found))


if __name__ == "__main__":
    main()
