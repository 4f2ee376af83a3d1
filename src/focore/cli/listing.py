"""`focore methods` and `focore models`."""

from __future__ import annotations

import json

from .app import app
from .options import JsonOption


@app.command()
def methods(as_json: JsonOption = False) -> None:
    """List the methods with their options and defaults."""
    from ..decoding.methods import TABLE

    if as_json:
        rows = [
            {
                "name": method.name,
                "rule": method.rule,
                "paper": method.paper,
                "passes": method.passes,
                "options": {name: item.default for name, item in method.options.items()},
            }
            for method in TABLE
        ]
        print(json.dumps(rows))
        return
    for method in TABLE:
        print(f"{method.name}: {method.rule} ({method.passes} passes a step)")
        for name, item in method.options.items():
            print(f"    {name}={item.default}  {item.about}; {item.limit}")


@app.command()
def models(as_json: JsonOption = False) -> None:
    """List the models at hand: the shipped one, and what the Hub's cache holds."""
    from ..available import available

    rows = available()
    if as_json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(f"{row['name']}  {row['family']}  {row['where']}")
    print("also: any LLaDA or Dream checkpoint, or masked LM of transformers, by folder or Hub id")
