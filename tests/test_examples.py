"""Every example runs, on the model that it is written for."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pytest

import focore
from tests.support import LLADA, write_checkpoint
from tests.tokenizers import write_tokenizer

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SHOWN = {  # example -> what it must print, whatever the model has learnt
    "quickstart.py": ["32 steps, 64 passes", "Use 48, 9, 62"],
    "streaming.py": ["  0 +2 passes", " 23 +2 passes"],
    "infilling.py": ["=83\nThe answer is 83", "\n6*9="],
    "compare_methods.py": ["confidence 24 steps 24 passes", "cfg        24 steps 48 passes"],
    "evaluate_methods.py": ["confidence", "of 4, 32.0 steps and 32.0 passes a sample"],
}
ARGUMENTS = {"evaluate_methods.py": ["tiny", "4"]}
ELSEWHERE = {"demo.py", "new_method.py", "openai_client.py"}  # each has a test of its own


@pytest.mark.parametrize("name", SHOWN)
def test_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(name, *ARGUMENTS.get(name, []))
    shown = capsys.readouterr().out
    for part in SHOWN[name]:
        assert part in shown


def test_the_demo_shows_a_problem_and_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    run("demo.py", PROBLEMS=1)
    shown = capsys.readouterr().out
    assert "205 people" in shown and "2 held-out problems" in shown and "focore_a" in shown


def test_openais_client_talks_to_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "focore.cli", "serve", "--port", str(port := free_port())]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/ready", server)
            run("openai_client.py", f"http://127.0.0.1:{port}/v1")
        finally:
            server.terminate()
    shown = capsys.readouterr().out
    assert "model: tiny" in shown and "64 passes" in shown
    assert shown.count("\nstreamed: ") == 1 and shown.count("step ") == 32


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    """Until the server is ready; it loads the model first."""
    for _ in range(1200):
        assert server.poll() is None, "the server has ended"
        with suppress(OSError), urlopen(url, timeout=5):
            return
        time.sleep(0.1)
    raise AssertionError("the server does not get ready")


def run(name: str, *arguments: str, **changed: object) -> None:
    """Run an example in this process: importing PyTorch again takes longer than most of them."""
    spec = importlib.util.spec_from_file_location(name.removesuffix(".py"), EXAMPLES / name)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(changed)
    module.main(*arguments)


def test_there_is_a_test_for_every_example() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SHOWN) | ELSEWHERE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model")
    config = replace(LLADA, vocabulary=320, mask_id=1, end_ids=(0,), max_length=512)
    write_checkpoint(path, config)
    write_tokenizer(path)
    return str(path)


def test_an_example_is_a_program(folder: str) -> None:
    command = [sys.executable, str(EXAMPLES / "new_method.py"), folder]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert "patient: " in ran.stdout


def test_a_new_method_takes_part_in_everything(folder: str) -> None:
    sys.path.insert(0, str(EXAMPLES))
    try:
        import new_method

        model = focore.load(folder)
        made = focore.generate(model, "Ann", method="patient", gen_length=12, threshold=0.0)
        assert made.steps < 12 and made.options["threshold"] == 0.0
        with pytest.raises(focore.OptionError, match="threshold=2"):
            focore.generate(model, "Ann", method="patient", gen_length=4, threshold=2)
        assert new_method.Patient.__doc__
    finally:
        focore.METHODS.pop("patient", None)
        sys.path.remove(str(EXAMPLES))
