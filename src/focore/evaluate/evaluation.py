"""What is to be evaluated: checked as a whole before anything is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..decoding.methods import find
from ..decoding.options import Settings, options_of, refuse_unknown
from ..errors import OptionError
from ..loading import Model
from ..tasks import catalogue, sandbox
from .cell import Cell
from .provenance import model_record, versions

Progress = Callable[[Cell, int, int], None]


def _silent(cell: Cell, done: int, total: int) -> None:
    pass


@dataclass(frozen=True)
class Evaluation:
    """Everything that decides the numbers, and how they are computed."""

    model: Model
    tasks: Sequence[str]
    methods: Sequence[str] = ("focore",)
    lengths: Sequence[int] = (128,)
    options: Mapping[str, Any] = field(default_factory=dict)
    vary: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # option -> values
    seed: int = 0
    chat: bool | None = None
    limit: int | None = None
    data: str | None = None
    allow_code: bool = False
    batch_size: int = 16
    compute: Any = None  # workers elsewhere; None computes here
    progress: Progress = _silent

    def __post_init__(self) -> None:
        if not self.tasks or not self.methods or not self.lengths:
            raise OptionError("at least one task, one method and one length are needed")
        if self.limit is not None and self.limit < 1:
            raise OptionError(f"limit={self.limit} is not allowed; it must be at least 1")
        if self.model.text is None:
            raise OptionError(f"{self.model.name} has no tokenizer files; evaluation needs text")
        code = [name for name in self.tasks if catalogue.full_name(name) in catalogue.CODE]
        if code and not self.allow_code:
            raise OptionError(
                f"{code[0]} runs generated code; allow it with --allow-code-execution"
            )
        if code:
            sandbox.check()
        given = {**self.options, **self.vary}
        if "gen_length" in given:
            raise OptionError("gen_length is not an option of evaluation; use --gen-length")
        known: dict[str, Any] = options_of(Settings)
        for method in self.methods:
            known = known | find(method).options
        refuse_unknown(given, known, "these methods")

    @property
    def templated(self) -> bool:
        """Whether prompts go into the chat template."""
        assert self.model.text
        return self.model.text.instruct if self.chat is None else self.chat

    def cells(self) -> list[Cell]:
        """All cells, those of a task together."""
        methods = dict.fromkeys(find(name).name for name in self.methods)
        return [
            cell
            for task in dict.fromkeys(self.tasks)
            for length in dict.fromkeys(self.lengths)
            for method in methods
            for cell in self._variants(task, method, length)
        ]

    def _variants(self, task: str, method: str, length: int) -> list[Cell]:
        """The cells of a method: one, or one for each value of the option that is varied."""
        known = {**options_of(Settings), **find(method).options}
        given = {name: value for name, value in self.options.items() if name in known}
        found = [Cell(task, method, length, given)]
        for name, values in self.vary.items():
            if name in known:
                found = [cell.varied(name, value) for cell in found for value in values]
        return found

    def made_with(self) -> dict[str, Any]:
        """What all numbers of a folder have in common."""
        return {
            **model_record(self.model),
            "seed": self.seed,
            "chat": self.templated,
            "versions": versions(),
        }

    def harness(self, cell: Cell) -> Any:
        """The model as lm-eval sees it, for one cell."""
        from .harness import Harness

        made = Harness(
            self.model, cell.method, cell.gen_length, self.seed, self.batch_size, **cell.options
        )
        made.compute = self.compute or made.compute
        made.progress = lambda done, total: self.progress(cell, done, total)
        return made
