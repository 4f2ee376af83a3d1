"""The page of methods, from the table of methods."""

from __future__ import annotations

from collections.abc import Iterable

from ..decoding.method import Method
from ..decoding.methods import ALIASES, TABLE
from ..decoding.options import Option, Settings, options_of

INTRODUCTION = """# Methods

Written by `make docs` from the table of methods; a test compares the two.

Each step of decoding asks three questions: which logits (guidance), which token at each position
(sampler), which positions now (commit). A method answers them; everything else is shared: blocks,
schedules, temperature, caches, batches, streaming. Every step commits at least what its schedule
asks for, so no method leaves a mask or needs more steps than its budget.
"""

CACHES = """## Caches

`cache="prefix"` and `cache="dual"` follow Fast-dLLM. The first pass of each block is a full one;
later passes feed the block and all after it (`prefix`) or the block alone (`dual`) and take the
keys and values of all other positions from memory. A cached run is an approximation.

- Each view has a memory of its own: the contrast's second pass never sees the first one's keys.
- A contrast may hide positions outside the block. Those are fed together with the block in that
  view and their keys and values replaced, and once more when they are shown again, so the step
  stays cheap and the contrast true.
- Scores of positions that a cached pass did not predict (FoCore's instability, A-CFG's confidence)
  stay as they are until the next full pass. The divergence is then taken from the last prediction
  that there is.
- On Dream the position before the block is fed too, since it predicts the block's first token.
- `prophet` and `soar` refuse a cache: they look at positions that a cached pass does not predict.
"""


def methods_page() -> str:
    """docs/methods.md."""
    settings = options_of(Settings)
    parts = [
        INTRODUCTION,
        "| method | rule | passes a step |\n| --- | --- | --- |",
        "\n".join(f"| [`{m.name}`](#{m.name}) | {m.rule} | {m.passes} |" for m in TABLE),
        "",
        "## Options of every method\n",
        option_table(settings.values()),
        "",
        *(section(method) for method in TABLE),
        CACHES.rstrip(),
    ]
    return "\n".join(parts) + "\n"


def section(method: Method) -> str:
    """What there is to say of one method."""
    aliases = [alias for alias, name in ALIASES.items() if name == method.name]
    lines = [f"## {method.name}\n", f"{method.name} {method.rule}.\n"]
    if aliases:
        lines.append(f"- Also called: {', '.join(aliases)}")
    lines += [f"- Formula: `{method.formula}`", f"- Paper: {method.paper}"]
    lines.append(f"- Passes a step: {method.passes}")
    lines.append(f"- Works with a cache: {'yes' if method.caches else 'no'}")
    if method.differs:
        lines.append(f"- What differs from the public code: {method.differs}")
    if method.options:
        lines += ["", option_table(method.options.values())]
    return "\n".join(lines) + "\n"


def option_table(options: Iterable[Option]) -> str:
    """Options with their defaults, limits and meanings."""
    rows = [
        f"| `{item.name}` | `{item.default}` | {item.limit} | {item.about} |" for item in options
    ]
    return "\n".join(
        ["| option | default | allowed | meaning |", "| --- | --- | --- | --- |", *rows]
    )
