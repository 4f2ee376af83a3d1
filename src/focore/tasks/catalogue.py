"""The names of tasks: ours, their short forms, and those of lm-evaluation-harness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import OptionError, first_line, unknown

FOLDER = Path(__file__).parent / "files"
SHORT = {  # lm-eval has tasks of these names, with other prompts and scorers
    "gsm8k": "focore_gsm8k",
    "humaneval": "focore_humaneval",
    "mbpp": "focore_mbpp",
}
CODE = ("focore_humaneval", "focore_mbpp")
METRICS = ("accuracy", "acc", "exact_match", "math_verify", "pass_at_1", "pass@1")


def ours() -> list[str]:
    """The tasks in this package."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def full_name(name: str) -> str:
    """The name that lm-eval knows a task by."""
    return SHORT.get(name, name)


def manager(names: list[str], data: str | None) -> Any:
    """lm-eval's task manager; its own thousands of tasks are read only if one is asked for."""
    try:
        from lm_eval.tasks import TaskManager
    except ImportError:
        raise OptionError("evaluation needs lm-eval: pip install 'focore[eval]'") from None
    known = {*ours()}
    made = TaskManager(
        include_path=str(FOLDER),
        include_defaults=not {full_name(name) for name in names} <= known,
        metadata={} if data is None else {"data": data},
    )
    for name in names:
        if full_name(name) not in made.all_tasks:
            raise unknown("task", name, {*SHORT, *known, *made.all_tasks})
    return made


def load(name: str, manager: Any) -> dict[str, Any]:
    """The task of a name, or all of a group's."""
    try:
        found = dict(manager.load([full_name(name)])["tasks"])
    except (OptionError, KeyboardInterrupt):
        raise
    except Exception as error:  # lm-eval's own tasks fetch data and import what they need
        raise OptionError(f"task {name!r} cannot be loaded: {first_line(error)}") from None
    for each, task in found.items():
        if getattr(task, "UNSAFE_CODE", False) and each not in CODE:
            raise OptionError(
                f"task {each!r} runs generated code without a sandbox; use humaneval or mbpp"
            )
    return found


def metric_of(sample: dict[str, Any]) -> str:
    """The metric of a sample that stands for its task."""
    for name in (*METRICS, *sample["metrics"]):
        if name in sample["metrics"]:
            return str(name)
    raise OptionError("a task without metrics")
