"""Traces: what they keep, of which runs, and how they come back from disk."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import focore
from focore.loading import Model
from focore.trace import About, Trace, load, record, record_infill, recording_of, save, trace_of
from focore.trace.trace import Recorder
from tests.support import constant, known_model

SMALL: dict[str, Any] = {"gen_length": 12, "block_length": 6}


def same(a: Trace, b: Trace) -> None:
    """Two traces agree in everything but time."""
    assert a.about == b.about
    for field in fields(Trace):
        if field.name not in ("about", "seconds"):
            np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name))


def test_a_trace_is_what_the_stream_says(model: Model) -> None:
    trace = record(model, "Ann has", **SMALL)
    frames = list(focore.stream(model, "Ann has", watch=True, **SMALL))
    assert trace.steps == len(frames) and trace.about.measured
    for step, frame in enumerate(frames):
        assert trace.canvas[step + 1].tolist() == frame.tokens
        assert np.flatnonzero(trace.committed[step]).tolist() == frame.committed
        assert (
            np.flatnonzero(trace.core[step]).tolist()
            == np.flatnonzero(frame.notes["core"]).tolist()
        )
        np.testing.assert_allclose(trace.instability[step], frame.notes["instability"], 1e-3, 1e-7)
        np.testing.assert_allclose(trace.confidence[step], frame.confidence, 1e-3, 1e-7)
        assert trace.passes[step] == frame.passes
    assert trace.answer == focore.generate(model, "Ann has", **SMALL).tokens
    assert trace.canvas[0, trace.about.start :].tolist() == [model.mask_id] * 12
    assert (trace.seconds > 0).all()


def test_a_recording_gives_the_answer_too(model: Model) -> None:
    made = recording_of(model, "Ann has", method="focore_a", **SMALL).completion()
    direct = focore.generate(model, "Ann has", method="focore_a", **SMALL)
    assert replace(made, seconds=0) == replace(direct, seconds=0)


def test_a_trace_of_frames_has_all_but_the_candidates(model: Model) -> None:
    frames = focore.stream(model, "Ann has", method="cfg", watch=True, **SMALL)
    made = trace_of(model, frames, method="cfg", options=SMALL)
    direct = record(model, "Ann has", method="cfg", **SMALL)
    np.testing.assert_array_equal(made.canvas, direct.canvas)
    np.testing.assert_array_equal(made.hidden, direct.hidden)
    assert made.about.options == direct.about.options
    assert (made.candidate == -1).all()
    with pytest.raises(focore.OptionError, match="without a step"):
        trace_of(model, [])


def test_the_candidates_have_the_token_that_was_written(model: Model) -> None:
    trace = record(model, "Ann has", method="confidence", **SMALL)
    for step, position in zip(*trace.committed.nonzero(), strict=True):
        place = trace.candidate[position].tolist().index(trace.canvas[-1, position])
        confidence = trace.confidence[step, position]
        np.testing.assert_allclose(trace.likelihood[position, place], confidence, rtol=2e-3)
    assert (np.diff(trace.likelihood.astype(float), axis=1) <= 0).all()


def test_a_run_that_is_not_watched(model: Model) -> None:
    for method, measured in (("confidence", False), ("focore", True)):
        trace = record(model, "Ann has", method=method, watch=False, **SMALL)
        watched = record(model, "Ann has", method=method, **SMALL)
        assert trace.about.measured is measured and watched.about.measured
        np.testing.assert_array_equal(trace.canvas, watched.canvas)


def test_rows_of_a_batch_are_traced_as_if_alone(model: Model) -> None:
    prompts = ["Ann has four red apples", "Bob", "How many are there?"]
    for method in ("focore_a", "soar"):
        for prompt, trace in zip(
            prompts, record(model, prompts, method=method, **SMALL), strict=True
        ):
            alone = record(model, prompt, method=method, **SMALL)
            np.testing.assert_array_equal(trace.canvas, alone.canvas)
            np.testing.assert_array_equal(trace.committed, alone.committed)
            np.testing.assert_allclose(trace.instability, alone.instability, 1e-2, 1e-5)


def test_the_convergence_is_the_mean_over_what_is_written(model: Model) -> None:
    trace = record(model, "Ann has", method="confidence", **SMALL)
    for step in range(trace.steps):
        written = trace.canvas[step] != model.mask_id
        mean = trace.instability[step][written].mean(dtype=float)
        np.testing.assert_allclose(trace.convergence[step], mean, rtol=1e-2, atol=1e-6)
    assert np.isnan(record(model, "Ann has", method="soar", **SMALL).convergence).all()


def test_a_run_stopped_early_and_a_cached_one(model: Model, tmp_path: Path) -> None:
    ended = {"stop_at_eos": True, "fixed": {2: [0]}}
    for options in (ended, {"cache": "prefix"}, {"cache": "dual"}):
        trace = record(model, "Ann has", **SMALL, **options)
        made = focore.generate(model, "Ann has", **SMALL, **options)
        assert trace.answer == made.tokens and trace.steps == made.steps
        save(trace, tmp_path / "run.npz")
        same(load(tmp_path / "run.npz"), trace)
    assert record(model, "Ann has", **SMALL, **ended).steps < 12


def test_a_run_with_nothing_to_decide(model: Model, tmp_path: Path) -> None:
    trace = record(model, "Ann", gen_length=2, fixed={0: [5, 6]})
    assert trace.steps == 0 and trace.answer == [5, 6]
    save(trace, tmp_path / "run.npz")
    same(load(tmp_path / "run.npz"), trace)


def test_an_infill(model: Model) -> None:
    text = "Ann has [MASK:4] apples and [MASK]."
    trace, made = record_infill(model, text), focore.infill(model, text)
    assert trace.canvas[-1].tolist() == made.sequence and trace.about.start == 0
    assert trace.steps == 5
    with pytest.raises(focore.OptionError, match="gen_length is not an option"):
        record_infill(model, text, gen_length=3)


def test_text_of_any_script_is_spelt(model: Model, tmp_path: Path) -> None:
    text = "😀 e\u0301 שלום 👩‍👩‍👧"
    trace = record(model, text, chat=False, gen_length=4)
    groups = trace.about.joined.values()
    assert "😀" in groups and any("\u0301" in text for text in groups) and "ש" in groups
    save(trace, tmp_path / "run.npz")
    same(load(tmp_path / "run.npz"), trace)


def test_a_model_without_a_tokenizer(model: Model) -> None:
    bare = focore.Model(model.name, model.denoiser, None)
    trace = record(bare, [5, 6, 7], gen_length=4)
    assert trace.about.pieces[5] == "5 " and trace.about.joined == {}


def synthetic(length: int, steps: int, prompt: int = 100) -> Trace:
    """A trace whose numbers are as hard to pack as real ones: every S moves at every step."""
    random = np.random.default_rng(0)
    canvas = np.full(prompt + length, 1)
    canvas[:prompt] = random.integers(2, 50_000, prompt)
    recorder = Recorder(canvas.tolist())
    for step in range(steps):
        committed = np.zeros(len(canvas), dtype=bool)
        committed[prompt + step * length // steps : prompt + (step + 1) * length // steps] = True
        canvas = np.where(committed, random.integers(2, 50_000, len(canvas)), canvas)
        written = canvas != 1
        notes = {
            "instability": random.exponential(0.02, len(canvas)) * written,
            "divergence": random.exponential(0.02, len(canvas)) * written,
            "watched": written,
            "core": random.random(len(canvas)) < 0.02,
            "hidden": random.random(len(canvas)) < 0.02,
        }
        sure = random.random(len(canvas)) * ~written
        recorder.add(canvas, notes, committed=committed, confidence=sure, passes=2, seconds=0.1)
    pieces = {int(token): f" token{token}" for token in np.unique(recorder.canvas)}
    about = About("m", "focore", {}, 0, prompt, 1, (0,), measured=True, pieces=pieces)
    return recorder.trace(about)


def test_512_tokens_in_512_steps_take_at_most_5_mb(tmp_path: Path) -> None:
    trace = synthetic(512, 512)
    save(trace, tmp_path / "run.npz")
    assert (tmp_path / "run.npz").stat().st_size < 5e6
    same(load(tmp_path / "run.npz"), trace)


def test_recording_takes_no_pass_of_its_own() -> None:
    for method in ("confidence", "focore", "soar"):
        one, other = (known_model(constant([float(i % 5) for i in range(12)])) for _ in range(2))
        record(one, [1, 2], method=method, gen_length=8)
        focore.generate(other, [1, 2], method=method, gen_length=8)
        assert one.denoiser.calls == other.denoiser.calls  # type: ignore[attr-defined]


def test_a_watched_divergence_is_nearly_that_of_focore() -> None:
    """Where few tokens hold nearly everything D looks at no more; elsewhere it is the same."""

    def answer(tokens: Tensor) -> Tensor:
        left = (tokens == 10).sum(dim=1)[:, None]
        logits = torch.arange(400.0).mul(0.7).sin().expand(*tokens.shape, 400).clone()
        logits[:, 0] += left * torch.arange(400.0).mul(0.3).cos() / 4  # flat
        logits[:, 1:, 7] += 15 - left / 8  # settled
        return logits

    options: dict[str, Any] = {"gen_length": 6, "watch": True}
    watched, own = (
        np.array([frame.notes["divergence"] for frame in focore.stream(model, [1, 2], **how)])
        for model in [known_model(answer, vocabulary=400)]
        for how in (
            {"method": "confidence", **options},
            {"method": "focore", "guidance_scale": 0.0, **options},
        )
    )
    assert np.abs(watched - own).max() <= np.log(2) * 1e-3
    np.testing.assert_allclose(watched[:, 0], own[:, 0], rtol=1e-5, atol=1e-9)
    assert own[1:, 0].min() > 1e-3 and own[1:, 1].min() > 0
    assert (watched[1:, 1] != own[1:, 1]).any()


def damaged(content: bytes) -> dict[str, bytes]:
    """A trace file in ways that files break."""
    later = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(later, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, part.replace(b'"version": 1', b'"version": 9'))
    partial = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(partial, "w") as new:
        for name in old.namelist():
            if name != "core.npy":
                new.writestr(name, old.read(name))
    other = io.BytesIO()
    np.savez(other, x=np.zeros(3))
    flipped = bytearray(content)
    for place in range(len(content) // 3, len(content) // 3 + 40):
        flipped[place] ^= 0xFF
    return {
        "empty": b"",
        "text": b"hello",
        "cut": content[: len(content) // 2],
        "flipped": bytes(flipped),
        "other": other.getvalue(),
        "partial": partial.getvalue(),
        "later": later.getvalue(),
        "json": json.dumps({"about": 1}).encode(),
    }


def test_a_damaged_file_is_one_clear_line(model: Model, tmp_path: Path) -> None:
    save(record(model, "Ann has", **SMALL), tmp_path / "run.npz")
    for name, content in damaged((tmp_path / "run.npz").read_bytes()).items():
        path = tmp_path / f"{name}.npz"
        path.write_bytes(content)
        with pytest.raises(focore.CheckpointError, match=f"{name}.npz: ") as raised:
            load(path)
        assert "\n" not in str(raised.value)
    with pytest.raises(focore.CheckpointError, match="this focore reads 1"):
        load(tmp_path / "later.npz")
    with pytest.raises(focore.CheckpointError, match="no such file"):
        load(tmp_path / "nowhere.npz")
    with pytest.raises(focore.OptionError, match="cannot be written"):
        save(record(model, "Ann", gen_length=2), tmp_path / "no" / "run.npz")
