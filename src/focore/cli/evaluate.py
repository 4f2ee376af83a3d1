"""`focore eval`."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated, Any

import typer

from .app import app
from .evaluation import (
    BatchOption,
    CodeOption,
    DataOption,
    FolderOption,
    LengthsOption,
    LimitOption,
    MethodsOption,
    TaskOption,
    WorkersOption,
    computing,
    folder_of,
    lengths_of,
    names_of,
    say_missing_walls,
)
from .options import (
    BlockOption,
    ChatOption,
    DeviceOption,
    DtypeOption,
    ExtraOption,
    JsonOption,
    ModelOption,
    SeedOption,
    StepsOption,
    load_model,
    read_options,
)

CheckOption = Annotated[
    str | None, typer.Option("--check", help="result file of one cell to compute again, in part")
]


@app.command("eval")
def evaluate(
    task: TaskOption = None,
    method: MethodsOption = None,
    gen_length: LengthsOption = None,
    model: ModelOption = "tiny",
    limit: LimitOption = None,
    data: DataOption = None,
    workers: WorkersOption = None,
    output: FolderOption = None,
    check: CheckOption = None,
    allow_code_execution: CodeOption = False,
    batch_size: BatchOption = 16,
    block_length: BlockOption = None,
    steps: StepsOption = None,
    seed: SeedOption = 0,
    chat: ChatOption = None,
    option: ExtraOption = None,
    dtype: DtypeOption = "auto",
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Evaluate by lm-evaluation-harness: tasks x methods x lengths make a table."""
    os.environ.setdefault("TQDM_DISABLE", "1")  # read when tqdm is imported
    if check is not None:
        _check(check, as_json)
        return
    options = read_options(option, block_length=block_length, steps=steps)
    loaded = load_model(model, dtype, device)
    from ..evaluate.evaluation import Evaluation
    from ..evaluate.run import evaluate as run

    with computing(workers, loaded, batch_size) as how:
        asked = Evaluation(
            loaded,
            names_of(task, []),
            names_of(method, ["focore"]),
            lengths_of(gen_length, [128]),
            options=options,
            seed=seed,
            chat=chat,
            limit=limit,
            data=folder_of(data),
            allow_code=allow_code_execution,
            **how,
        )
        results = run(asked, output)
    say_missing_walls(results)
    _print([result.row.as_dict() for result in results], as_json)


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows))
        return
    from rich.console import Console
    from rich.table import Table

    from ..evaluate.report import HEADS, markdown, table

    if not sys.stdout.isatty():
        print(markdown(rows), end="")
        return
    drawn = Table()
    for place, head in enumerate(HEADS):
        drawn.add_column(head, justify="left" if place < 3 else "right")
    for line in table(rows):
        drawn.add_row(*line)
    Console().print(drawn)


def _check(path: str, as_json: bool) -> None:
    from ..evaluate.check import check

    found = check(path)
    print(json.dumps({**vars(found), "reproduces": found.reproduces}) if as_json else found)
    if not found.reproduces:
        raise typer.Exit(1)
