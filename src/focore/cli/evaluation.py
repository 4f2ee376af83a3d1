"""Options and plumbing that `focore eval` and `focore bench` share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import OptionError

if TYPE_CHECKING:
    from ..evaluate.cell import Cell
    from ..evaluate.run import Result

Names = list[str] | None
TaskOption = Annotated[Names, typer.Option("--task", help="names; repeatable, or with commas")]
MethodsOption = Annotated[Names, typer.Option("--method", help="see `focore methods`; repeatable")]
LengthsOption = Annotated[Names, typer.Option("--gen-length", help="tokens; repeatable")]
LimitOption = Annotated[int | None, typer.Option("--limit", help="the first N problems only")]
DataOption = Annotated[
    str | None, typer.Option("--data", help="folder with the benchmarks' files (else the Hub)")
]
WorkersOption = Annotated[str | None, typer.Option("--workers", help="ray or ray:N")]
FolderOption = Annotated[
    str | None, typer.Option("--output", "-o", help="folder for results; what is there is kept")
]
BatchOption = Annotated[int, typer.Option("--batch-size", help="rows decoded side by side")]
CodeOption = Annotated[
    bool, typer.Option("--allow-code-execution", help="run generated code, in a sandbox")
]


def say_missing_walls(results: Sequence[Result]) -> None:
    """Say what the sandbox could not do here."""
    for result in results:
        missing = (result.record["sandbox"] or {}).get("missing")
        if missing:
            print(f"focore: the sandbox had no walls for: {', '.join(missing)}", file=sys.stderr)
            return


def folder_of(data: str | None) -> str | None:
    """The folder of the data by its full name, so that a check finds it from anywhere."""
    return None if data is None else str(Path(data).expanduser().resolve())


def names_of(words: Names, default: list[str]) -> list[str]:
    """Words that were repeated or separated by commas."""
    found = [part.strip() for word in words or [] for part in word.split(",") if part.strip()]
    return found or default


def lengths_of(words: Names, default: Sequence[int]) -> list[int]:
    """Lengths, likewise."""
    found = names_of(words, [])
    for word in found:
        if not word.isdigit():
            raise OptionError(f"--gen-length {word!r} is not a whole number")
    return [int(word) for word in found] or list(default)


@contextmanager
def _workers(said: str | None, loaded: Any, piece: int) -> Iterator[Any]:
    """Workers on a cluster, or None to compute here."""
    if said is None:
        yield None
        return
    from ..evaluate.cluster import Cluster, parse_workers

    kind = str(loaded.denoiser.dtype).removeprefix("torch.")
    device, count = loaded.denoiser.device.type, parse_workers(said)
    with Cluster(loaded.name, count, kind, device, loaded.revision, piece) as cluster:
        yield cluster


@contextmanager
def _progress() -> Iterator[Callable[[Cell, int, int], None]]:
    """A bar with the time left on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda cell, done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bars:
        bar: dict[str, Any] = {}

        def show(cell: Cell, done: int, total: int) -> None:
            if cell.name not in bar:
                bar[cell.name] = bars.add_task(cell.name, total=total)
            bars.update(bar[cell.name], completed=done, total=total)

        yield show


@contextmanager
def computing(workers: str | None, loaded: Any, piece: int) -> Iterator[dict[str, Any]]:
    """Who computes and who shows progress, as an evaluation takes them."""
    with _workers(workers, loaded, piece) as compute, _progress() as progress:
        yield {"compute": compute, "progress": progress, "batch_size": piece}
