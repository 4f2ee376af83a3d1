"""The command line: output for people, output for programs, one line for mistakes."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from focore import METHODS
from focore.cli import main
from tests.support import LLADA, write_checkpoint
from tests.tokenizers import write_tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model")
    write_checkpoint(path, replace(LLADA, vocabulary=320, mask_id=1, end_ids=(0,)))
    write_tokenizer(path)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    captured = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, captured.out, captured.err


def test_generate_prints_plain_text_when_piped(
    capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    code, out, err = run(capsys, "generate", "How many?", "-m", folder, "--gen-length", "6")
    assert code == 0 and err == "" and out.count("\n") >= 1 and "\x1b" not in out


def test_generate_as_json(capsys: pytest.CaptureFixture[str], folder: str) -> None:
    arguments = ["generate", "Ann", "--model", folder, "--gen-length", "6", "--json", "--raw"]
    arguments += ["--method", "focore_a", "-O", "core_tokens=2", "-O", "burst=repeat"]
    code, out, _ = run(capsys, *arguments)
    made = json.loads(out)
    assert code == 0 and len(made["tokens"]) == 6 and made["method"] == "focore_a"
    assert made["options"]["core_tokens"] == 2 and made["options"]["burst"] == "repeat"


def test_generate_reads_standard_input(folder: str) -> None:
    command = [sys.executable, "-m", "focore.cli", "generate", "-", "-m", folder]
    command += ["--gen-length", "4", "--json", "-O", 'fixed={"1": " six"}']
    ran = subprocess.run(command, input="Ann has", capture_output=True, text=True, check=True)
    assert len(json.loads(ran.stdout)["tokens"]) == 4


def test_generate_draws_on_a_terminal(folder: str) -> None:
    reader, writer = pty.openpty()
    command = [sys.executable, "-m", "focore.cli", "generate", "Ann has four", "-m", folder]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    ran = subprocess.Popen(
        [*command, "--gen-length", "8"], stdout=writer, stderr=writer, env=environment
    )
    os.close(writer)
    drawn = b""
    try:
        while chunk := os.read(reader, 4096):
            drawn += chunk
    except OSError:
        pass  # the other end is closed
    assert ran.wait() == 0
    os.close(reader)
    assert "step 8, 16 passes" in drawn.decode() and "\x1b[" in drawn.decode()


def test_compare_puts_methods_side_by_side(capsys: pytest.CaptureFixture[str], folder: str) -> None:
    arguments = ["compare", "Ann has", "-m", folder, "--gen-length", "6", "-O", "core_tokens=2"]
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert all(name in out for name in ("confidence", "cfg", "focore", "focore_a", "passes"))
    assert "extremely high" in out
    code, out, _ = run(capsys, *arguments, "--methods", "margin,soar", "--json")
    assert code == 2
    chosen = ["--methods", "margin, focore", "--json", "--colour", "divergence"]
    code, out, _ = run(capsys, *arguments, *chosen)
    rows = json.loads(out)
    assert [row["method"] for row in rows] == ["margin", "focore"]
    assert [row["passes"] for row in rows] == [6, 12]


def test_an_option_may_be_said_either_way(capsys: pytest.CaptureFixture[str], folder: str) -> None:
    for command in (["generate"], ["compare", "--methods", "margin"]):
        arguments = [*command, "Ann has", "-m", folder, "--json", "-O", "gen_length=5"]
        code, out, _ = run(capsys, *arguments)
        made = json.loads(out)
        assert code == 0 and (made if isinstance(made, dict) else made[0])["steps"] == 5


def test_a_prompt_from_outside_must_be_text(
    capsys: pytest.CaptureFixture[str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\xff"), encoding="utf-8"))
    code, _, err = run(capsys, "generate", "-", "-m", folder)
    assert code == 2 and err.startswith("focore: standard input is not text")


@pytest.mark.parametrize("error", [KeyboardInterrupt, typer.Abort])
def test_an_interruption_is_one_line(
    capsys: pytest.CaptureFixture[str],
    folder: str,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
) -> None:
    def interrupted(*_: object) -> None:
        raise error

    monkeypatch.setattr("focore.cli.decode.load_model", interrupted)
    assert run(capsys, "generate", "hi", "-m", folder) == (130, "", "focore: interrupted\n")


def test_methods_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "methods")
    assert code == 0 and all(f"{name}: " in out for name in METHODS)
    rows = json.loads(run(capsys, "methods", "--json")[1])
    assert {row["name"] for row in rows} == set(METHODS)


def test_models_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "models")
    assert code == 0 and "by folder or Hub id" in out
    assert isinstance(json.loads(run(capsys, "models", "--json")[1]), list)


MISTAKES = [
    (["generate", "hi", "-m", "FOLDER", "--method", "focor"], "did you mean 'focore'"),
    (["generate", "hi", "-m", "FOLDER", "-O", "core_token=1"], "did you mean 'core_tokens'"),
    (["generate", "hi", "-m", "FOLDER", "-O", "core_tokens"], "not of the form name=value"),
    (["generate", "hi", "-m", "FOLDER", "-O", "seed=3"], "these methods 'seed'"),
    (["generate", "hi", "-m", "FOLDER", "-O", "model=x"], "these methods 'model'"),
    (["generate", "hi", "-m", "FOLDER", "--gen-length", "0"], "gen_length=0"),
    (["generate", "hi", "-m", "FOLDER", "--gen-length", "x"], "Invalid value for '--gen-length'"),
    (["generate", "hi", "-m", "FOLDER", "--gen-length", "999"], "positions"),
    (["generate", "hi", "-m", "/no/such/folder"], "no such folder"),
    (["generate"], "Missing argument"),
    (["generate", "hi", "--modle", "x"], "--modle"),
    (["compare", "hi", "-m", "FOLDER", "--colour", "red"], "unknown colour 'red'"),
    (["generat", "hi"], "No such command 'generat'"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[m for _, m in MISTAKES])
def test_a_mistake_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], folder: str, arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, *(folder if a == "FOLDER" else a for a in arguments))
    assert code == 2 and out == "" and err.count("\n") == 1
    assert err.startswith("focore: ") and message in err


def test_a_model_that_is_not_finite_is_exit_code_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    write_checkpoint(tmp_path, replace(LLADA, vocabulary=320, mask_id=1, end_ids=(0,)))
    write_tokenizer(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["model.transformer.ln_f.weight"] *= float("nan")
    save_file(tensors, tmp_path / "model.safetensors")
    code, _, err = run(capsys, "generate", "Ann", "-m", str(tmp_path), "--gen-length", "4")
    assert code == 1 and "not finite" in err


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys)[1].startswith("Usage: focore")
    assert run(capsys, "--version")[1].strip()
    assert "--gen-length" in run(capsys, "generate", "--help")[1]
