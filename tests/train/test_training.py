"""Training: it learns, it resumes, it fails clearly."""

import errno
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

import focore
from focore.errors import CheckpointError, OptionError
from focore.train import Recipe, train
from focore.train.optimizer import orthogonal
from focore.train.recipe import Stage
from focore.train.state import STATE, write
from focore.train.train import Progress, begin, task_of

SMALL = Recipe(
    width=32, layers=1, heads=2, mlp_width=64, steps=6, batch_tokens=600, warm_up=2,
    save_every=2, measure_every=0,
)  # fmt: skip
CHILD = """
import torch
from focore.train import Recipe, train
torch.set_num_threads(1)
train({folder!r}, Recipe(**{settings!r}))
"""


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def same(one, other) -> bool:
    first, second = load_file(one / STATE), load_file(other / STATE)
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


def test_the_loss_falls_and_the_checkpoint_loads(tmp_path):
    seen: list[Progress] = []
    recipe = replace(SMALL, steps=120, save_every=60, stages=(Stage(0, {"countdown": 1.0}),))
    train(tmp_path, recipe, seen.append)
    assert [p.step for p in seen] == list(range(1, 121))
    assert [p.step for p in seen if p.saved] == [60, 120]
    assert seen[-1].loss["countdown"] < seen[0].loss["countdown"] - 2
    model = focore.load(tmp_path)
    out = focore.generate(model, "What is 3+4?", method="confidence", gen_length=8)
    assert len(out.tokens) == 8
    assert model.mask_id not in out.tokens


def test_accuracy_is_reported(tmp_path):
    seen: list[Progress] = []
    train(tmp_path, replace(SMALL, steps=2, measure_every=2, measured=2), seen.append)
    assert seen[0].accuracy is None
    assert set(seen[1].accuracy) == {"countdown", "words", "arithmetic"}
    assert all(0 <= share <= 1 for share in seen[1].accuracy.values())


def test_the_same_seed_gives_the_same_weights(tmp_path):
    train(tmp_path / "a", SMALL)
    train(tmp_path / "b", SMALL)
    train(tmp_path / "c", replace(SMALL, seed=1))
    assert same(tmp_path / "a", tmp_path / "b")
    assert not same(tmp_path / "a", tmp_path / "c")


def test_a_run_in_pieces_is_the_run_in_one(tmp_path):
    def stop(progress: Progress) -> None:
        if progress.step == 5:
            raise KeyboardInterrupt

    train(tmp_path / "whole", SMALL)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "pieces", SMALL, stop)
    assert begin(tmp_path / "pieces", SMALL).step == 4
    train(tmp_path / "pieces", SMALL)
    assert same(tmp_path / "whole", tmp_path / "pieces")


@pytest.mark.parametrize("delay", [0.0, 0.013])
def test_a_killed_run_resumes(tmp_path, delay):
    recipe = replace(SMALL, steps=20, save_every=1)
    folder = tmp_path / "killed"
    settings = {name: value for name, value in recipe.settings().items() if name != "stages"}
    code = CHILD.format(folder=str(folder), settings=settings)
    child = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 120
    while not (folder / "model.safetensors").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(delay)
    child.send_signal(signal.SIGKILL)
    child.wait()
    saved, seen = begin(folder, recipe).step, []
    train(folder, recipe, seen.append)
    assert [progress.step for progress in seen] == list(range(saved + 1, 21))
    train(tmp_path / "whole", recipe)
    assert same(folder, tmp_path / "whole")


def test_the_time_left_is_by_the_pace_of_this_process(tmp_path):
    from focore.cli.train import _line

    seen: list[Progress] = []
    train(tmp_path, SMALL)
    train(tmp_path, replace(SMALL, steps=8), seen.append)
    assert [(p.begun, p.step) for p in seen] == [(6, 7), (6, 8)]
    assert "about 10 min left" in _line(Progress(900, 1000, 800, 600.0, {}, False))


def test_a_finished_run_can_be_made_longer(tmp_path):
    train(tmp_path, SMALL)
    train(tmp_path, replace(SMALL, steps=8))
    assert begin(tmp_path, SMALL).step == 8


def test_other_settings_are_refused(tmp_path):
    train(tmp_path, SMALL)
    with pytest.raises(CheckpointError, match="has width 32, not 48"):
        train(tmp_path, replace(SMALL, width=48))


def test_a_foreign_folder_is_refused_and_kept(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(CheckpointError, match="holds a checkpoint without"):
        train(tmp_path, SMALL)
    assert (tmp_path / "config.json").read_text() == "{}"


def test_an_old_or_damaged_state_is_refused_and_kept(tmp_path):
    save_file({"a": torch.zeros(1)}, tmp_path / STATE, metadata={"format": "focore training 0"})
    with pytest.raises(CheckpointError, match="'focore training 0', expected"):
        train(tmp_path, SMALL)
    (tmp_path / STATE).write_bytes(b"\x00\x01")
    with pytest.raises(CheckpointError, match="not a complete training file"):
        train(tmp_path, SMALL)
    assert (tmp_path / STATE).read_bytes() == b"\x00\x01"


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="cannot be written"):
        train(tmp_path / "file" / "run", SMALL)


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    train(tmp_path, SMALL)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="No space left on device"):
        train(tmp_path, replace(SMALL, steps=8))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_write_is_whole(tmp_path):
    write(tmp_path / "new" / "file", b"one")
    write(tmp_path / "new" / "file", b"two")
    assert (tmp_path / "new" / "file").read_bytes() == b"two"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["file"]


@pytest.mark.parametrize(
    "wrong",
    [{"steps": 0}, {"width": 30, "heads": 4}, {"batch_tokens": 10}, {"decay": 1.5},
     {"width": "abc"}, {"layers": 2.5}, {"measured": 0}, {"warm_up": "few"},
     {"weight_decay": float("inf")}, {"save_every": None}, {"learning_rate": 0.0},
     {"matrix_rate": float("nan")}, {"stages": ()}],
)  # fmt: skip
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(OptionError, match=next(iter(wrong))):
        Recipe(**wrong)


def test_wrong_stages_are_refused():
    with pytest.raises(OptionError, match="did you mean 'words'"):
        Stage(0, {"word": 1.0})
    with pytest.raises(OptionError, match="one above 0"):
        Stage(0, {"words": 0.0})
    with pytest.raises(OptionError, match="from step 0"):
        Recipe(stages=(Stage(5, {"words": 1.0}),))


def test_the_rate_rises_stays_and_falls():
    recipe = Recipe(steps=1000, warm_up=10, decay=0.2)
    assert recipe.pace(0) == pytest.approx(0.1)
    assert recipe.pace(500) == 1.0
    assert recipe.pace(900) == pytest.approx(0.5)
    assert recipe.pace(999) < 0.01


def test_drills_come_first():
    early = [task_of(step, Recipe()) for step in range(200)].count("drills")
    late = [task_of(step, Recipe()) for step in range(2000, 2200)].count("drills")
    assert early > 2 * late > 0


def test_orthogonal_has_singular_values_near_one():
    noise = torch.Generator().manual_seed(0)
    for shape in ((24, 40), (40, 24), (32, 32)):
        values = torch.linalg.svdvals(orthogonal(torch.randn(shape, generator=noise)))
        assert values.max() < 1.4
        assert values.median() > 0.6
