"""`focore bench`."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import app
from .evaluation import (
    BatchOption,
    CodeOption,
    DataOption,
    LengthsOption,
    LimitOption,
    MethodsOption,
    Names,
    TaskOption,
    WorkersOption,
    computing,
    folder_of,
    lengths_of,
    names_of,
    say_missing_walls,
)
from .options import (
    ChatOption,
    DeviceOption,
    DtypeOption,
    JsonOption,
    ModelOption,
    SeedOption,
    load_model,
)

if TYPE_CHECKING:
    from ..evaluate.presets import Preset

PresetOption = Annotated[
    str | None, typer.Option("--preset", help="a table of the paper; without it they are listed")
]
OutputOption = Annotated[str, typer.Option("--output", "-o", help="folder for results")]


@app.command()
def bench(
    preset: PresetOption = None,
    model: ModelOption = "tiny",
    task: TaskOption = None,
    method: MethodsOption = None,
    gen_length: LengthsOption = None,
    limit: LimitOption = None,
    data: DataOption = None,
    workers: WorkersOption = None,
    output: OutputOption = "bench",
    allow_code_execution: CodeOption = False,
    batch_size: BatchOption = 16,
    seed: SeedOption = 0,
    chat: ChatOption = None,
    dtype: DtypeOption = "auto",
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Run the paper's tables and ablations; resumable, beside the published figures."""
    os.environ.setdefault("TQDM_DISABLE", "1")  # read when tqdm is imported
    if preset is None:
        _list()
        return
    chosen = _chosen(preset, model, task, method, gen_length, limit)
    loaded = load_model(model, dtype, device)
    from ..evaluate.bench import comparison, write_bench
    from ..evaluate.evaluation import Evaluation
    from ..evaluate.run import evaluate

    with computing(workers, loaded, batch_size) as how:
        asked = Evaluation(
            loaded,
            chosen.tasks,
            chosen.methods,
            chosen.lengths,
            vary=chosen.vary,
            seed=seed,
            chat=chat,
            limit=chosen.limit,
            data=folder_of(data),
            allow_code=allow_code_execution,
            **how,
        )
        results = evaluate(asked, output)
    say_missing_walls(results)
    rows = [result.row.as_dict() for result in results]
    write_bench(Path(output), preset, chosen.about, rows)
    print(json.dumps(rows) if as_json else comparison(rows, chosen.about))


def _list() -> None:
    from ..evaluate.presets import PRESETS

    print("\n".join(f"{name}: {item.about}" for name, item in PRESETS.items()))


def _chosen(
    name: str, model: str, tasks: Names, methods: Names, lengths: Names, limit: int | None
) -> Preset:
    """The preset, fitted to the model and to what was said."""
    from ..evaluate.presets import preset
    from ..model.checkpoint import SHIPPED

    found = preset(name).for_own_model() if model == SHIPPED else preset(name)
    return replace(
        found,
        tasks=names_of(tasks, list(found.tasks)),
        methods=names_of(methods, list(found.methods)),
        lengths=lengths_of(lengths, found.lengths),
        limit=found.limit if limit is None else limit,
    )
