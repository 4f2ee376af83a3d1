"""Whole evaluations: equal to lm-eval's own, resumable, recorded, checkable."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import focore
from focore import Model, OptionError
from focore.evaluate.answering import answers
from focore.evaluate.check import check
from focore.evaluate.evaluation import Evaluation
from focore.evaluate.run import Result, evaluate
from focore.tasks import catalogue
from tests.evaluate.small import write_small

TIMES = ("seconds", "tokens_per_second")


def asked(model: Model, data: str, **changes: Any) -> Evaluation:
    given: dict[str, Any] = {
        "tasks": ["gsm8k", "countdown"],
        "methods": ["confidence", "focore"],
        "lengths": [6],
        "data": data,
        "batch_size": 4,
    }
    return Evaluation(model, **{**given, **changes})


def untimed(results: list[Result]) -> str:
    """Everything but times."""
    plain = []
    for result in results:
        said = {**result.as_dict(), "samples": [dict(sample) for sample in result.samples]}
        for name in TIMES:
            said["row"].pop(name)
        for sample in said["samples"]:
            sample["trace"] = {**sample["trace"], "seconds": 0}
        plain.append(said)
    return json.dumps(plain, default=str)


class Counting:
    """Compute here, and count what is computed."""

    def __init__(self) -> None:
        self.jobs = 0

    def __call__(self, plan: Any, jobs: Any) -> Any:
        for found in answers(plan, jobs, 4):
            self.jobs += 1
            yield found


def test_a_table(model: Model, data: str, tmp_path: Path) -> None:
    results = evaluate(asked(model, data, lengths=[4, 6]), tmp_path / "out")
    names = [(r.row.task, r.row.gen_length, r.row.method) for r in results]
    assert len(set(names)) == 8
    row = results[0].row
    assert (row.samples, row.steps, row.passes) == (12, 4.0, 4.0)
    assert results[1].row.passes == 8.0
    written = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len(written["rows"]) == 8
    assert written["run"]["weights"] == results[0].record["weights"]
    table = (tmp_path / "out" / "results.md").read_text()
    assert table.count("\n| gsm8k") == 4 and "1.00x" in table
    lines = (tmp_path / "out" / "gsm8k.focore.6.samples.jsonl").read_text().splitlines()
    sample = json.loads(lines[3])
    assert "What is 3 + 9?" in sample["prompt"]
    assert set(sample) >= {"output", "score", "trace", "target"}
    assert len(lines) == 12
    record = json.loads((tmp_path / "out" / "gsm8k.focore.6.json").read_text())["record"]
    assert set(record) >= {
        "model", "weights", "method", "options", "seed", "prompts_hash", "dtype", "device",
        "batch_size", "versions", "git_commit",
    }  # fmt: skip
    assert set(record["versions"]) >= {"torch", "transformers", "lm_eval", "focore"}
    assert record["options"]["guidance_scale"] == 0.3


def test_nothing_is_computed_twice(model: Model, data: str, tmp_path: Path) -> None:
    first, again, more = Counting(), Counting(), Counting()
    some = evaluate(asked(model, data, limit=5, compute=first), tmp_path)
    assert first.jobs == 2 * (5 + 2)
    assert untimed(evaluate(asked(model, data, limit=5, compute=again), tmp_path)) == untimed(some)
    assert again.jobs == 0
    whole = evaluate(asked(model, data, compute=more), tmp_path)
    assert more.jobs == 2 * 7
    assert untimed(whole) == untimed(evaluate(asked(model, data)))


def test_batches_change_nothing(model: Model, data: str) -> None:
    one, many = (evaluate(asked(model, data, batch_size=size)) for size in (1, 16))
    for a, b in zip(one, many, strict=True):
        assert [s["output"] for s in a.samples] == [s["output"] for s in b.samples]


def killed_after(asked: Evaluation, folder: Path, answers: int) -> None:
    """Run in a process of its own, killed as soon as so many answers are on disk."""
    child = os.fork()
    if child == 0:
        try:
            evaluate(asked, folder)
        finally:
            os._exit(0)
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        lines = sum(path.read_bytes().count(b"\n") for path in folder.glob("*.*.?.jsonl"))
        if lines >= answers or os.waitpid(child, os.WNOHANG)[0]:
            break
        time.sleep(0.002)
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


def test_killed_three_times(model: Model, data: str, tmp_path: Path) -> None:
    what = asked(model, data, batch_size=2)
    whole = evaluate(what, tmp_path / "whole")
    broken = tmp_path / "broken"
    rng, seen = random.Random(0), 0
    for _ in range(3):
        seen += rng.randint(3, 9)
        killed_after(what, broken, seen)
    counting = Counting()
    finished = evaluate(asked(model, data, batch_size=2, compute=counting), broken)
    assert 0 < counting.jobs < 28
    assert untimed(finished) == untimed(whole)
    for path in (tmp_path / "whole").glob("*.*.?.jsonl"):
        keys = [json.loads(line).get("key") for line in path.read_text().splitlines()]
        other = [
            json.loads(line).get("key") for line in (broken / path.name).read_text().splitlines()
        ]
        assert sorted(map(str, keys)) == sorted(map(str, other))  # once each


def test_same_as_simple_evaluate(model: Model, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import lm_eval.evaluator

    from focore.evaluate.harness import Harness

    monkeypatch.setattr(lm_eval.evaluator, "add_env_info", lambda results: None)  # takes 20 s
    (ours,) = evaluate(asked(model, data, tasks=["gsm8k"], methods=["focore"]))
    theirs = lm_eval.simple_evaluate(
        model=Harness(model, "focore", 6),
        tasks=["focore_gsm8k"],
        task_manager=catalogue.manager(["gsm8k"], data),
        apply_chat_template=True,
    )
    assert theirs["results"]["focore_gsm8k"]["accuracy,none"] == ours.row.accuracy
    assert theirs["results"]["focore_gsm8k"]["accuracy_stderr,none"] == ours.row.stderr
    outputs = [sample["resps"][0][0] for sample in theirs["samples"]["focore_gsm8k"]]
    assert outputs == [sample["output"] for sample in ours.samples]


def test_another_configuration_is_refused(model: Model, data: str, tmp_path: Path) -> None:
    evaluate(asked(model, data, tasks=["countdown"], methods=["confidence"]), tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for changes, said in (
        ({"seed": 1}, "seed is 0 there and 1 here"),
        ({"chat": False}, "chat is True there and False here"),
        ({"options": {"steps": 3}}, "options is"),
    ):
        with pytest.raises(OptionError, match=said):
            what = asked(model, data, tasks=["countdown"], methods=["confidence"], **changes)
            evaluate(what, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_unknown_task(model: Model, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from lm_eval import tasks

    real = tasks.TaskManager  # its index of all tasks takes 15 seconds to read

    def ours_only(include_defaults: bool, **rest: Any) -> Any:
        assert include_defaults
        return real(include_defaults=False, **rest)

    monkeypatch.setattr(tasks, "TaskManager", ours_only)
    with pytest.raises(OptionError, match="unknown task 'gsm9k'; did you mean 'gsm8k'"):
        evaluate(asked(model, data, tasks=["gsm9k"]))


@pytest.mark.slow
def test_stock_tasks_are_known() -> None:
    manager = catalogue.manager(["bbh", "minerva_math", "arc_easy"], None)
    assert {"bbh", "minerva_math"} <= set(manager.all_groups)
    with pytest.raises(OptionError, match="unknown task 'bbhh'; did you mean 'bbh'"):
        catalogue.manager(["bbhh"], None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tasks": []}, "at least one task"),
        ({"methods": ["focor"]}, "did you mean 'focore'"),
        ({"options": {"guidance": 1}}, "guidance_scale"),
        ({"lengths": [0]}, "gen_length=0"),
        ({"limit": 0}, "limit=0"),
        ({"options": {"gen_length": 64}}, "use --gen-length"),
        ({"tasks": ["mbpp"]}, "--allow-code-execution"),
        ({"tasks": ["svamp"]}, r"svamp\.json is not there"),
    ],
)
def test_mistakes(model: Model, data: str, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        evaluate(asked(model, data, **changes))


def test_code_is_run_when_allowed(model: Model, data: str) -> None:
    (result,) = evaluate(
        asked(model, data, tasks=["mbpp"], methods=["confidence"], allow_code=True)
    )
    assert result.row.accuracy == 0.0
    assert "walls" in result.record["sandbox"]


def test_a_multiple_choice_task(model: Model, data: str, tmp_path: Path) -> None:
    """A task of likelihoods is kept and resumed like any other."""
    from datasets import Dataset
    from lm_eval.api.task import ConfigurableTask

    docs = [{"q": f"Is {n} even?", "a": n % 2} for n in range(4)]
    config = {
        "task": "parity",
        "custom_dataset": lambda **_: {"test": Dataset.from_list(docs)},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "{{q}}",
        "doc_to_choice": ["yes", "no"],
        "doc_to_target": "{{a}}",
        "metadata": {"version": 1},
    }
    from focore.evaluate.cell import Cell
    from focore.evaluate.run import _one

    what = asked(model, data, tasks=["parity"], methods=["confidence"])
    cell = Cell("parity", "confidence", 6)
    first = _one(what, cell, {"parity": ConfigurableTask(config=config)}, tmp_path)
    assert first.row.samples == 4
    assert len((tmp_path / "parity.confidence.6.jsonl").read_text().splitlines()) == 9
    again = _one(what, cell, {"parity": ConfigurableTask(config=config)}, tmp_path)
    assert untimed([again]) == untimed([first])


def test_check(model: Model, checkpoint: Path, data: str, tmp_path: Path) -> None:
    evaluate(asked(model, data, tasks=["gsm8k"], methods=["random"]), tmp_path)
    path = tmp_path / "gsm8k.random.6.json"
    found = check(path)
    assert (found.samples, found.same, found.notes) == (8, 8, ())
    assert str(found) == "reproduces: 8 of 8 samples are the same"
    kept = path.with_suffix(".jsonl")
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    for line in lines[1:]:
        line["tokens"] = [*line["tokens"][::-1], 7]
    kept.write_text("".join(json.dumps(line) + "\n" for line in lines))
    worse = check(path)
    assert (worse.samples, worse.same, worse.reproduces) == (8, 0, False)
    said = json.loads(path.read_text())
    said["record"]["versions"]["torch"] = "0.1"
    said["record"]["weights"] = "other"
    path.write_text(json.dumps(said))
    notes = check(path, model=focore.load(str(checkpoint))).notes
    assert notes[0] == "the weights are not those of the result"
    assert notes[1].startswith("torch was 0.1 and is ")
    for content in ("{", "[]", '{"rows": []}'):
        (tmp_path / "other.json").write_text(content)
        with pytest.raises(OptionError, match="is not the result of one cell"):
            check(tmp_path / "other.json")
    with pytest.raises(OptionError, match="cannot be read"):
        check(tmp_path / "none.json")


def test_a_check_compares_what_the_result_is_of(model: Model, data: str, tmp_path: Path) -> None:
    what = {"tasks": ["gsm8k"], "methods": ["confidence"]}
    evaluate(asked(model, data, **what), tmp_path)
    evaluate(asked(model, data, **what, limit=5), tmp_path)
    path = tmp_path / "gsm8k.confidence.6.json"
    found = check(path, model=model)
    assert (found.samples, found.same) == (5, 5)
    path.with_suffix(".jsonl").unlink()
    with pytest.raises(OptionError, match=r"gsm8k\.confidence\.6\.jsonl has no answers"):
        check(path, model=model)


def test_a_revision_is_recorded_and_checked(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest, older = "a" * 40, "b" * 40
    repo = tmp_path / "models--someone--small"
    for seed, commit in enumerate((newest, older)):
        write_small(repo / "snapshots" / commit, seed=seed)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(newest)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    hashes = set()
    for revision, commit in ((None, newest), (older, older)):
        model = focore.load("someone/small", revision=revision)
        out = tmp_path / commit
        what = asked(model, data, tasks=["countdown"], methods=["random"])
        (result,) = evaluate(what, out)
        assert result.record["revision"] == model.revision == commit
        hashes.add(result.record["weights"])
        found = check(out / "countdown.random.6.json")
        assert found.reproduces and found.notes == ()
    assert len(hashes) == 2
