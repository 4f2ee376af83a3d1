"""The page as a file: what it holds, how large it is, and that no text can break out of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from focore.cli import main
from focore.loading import Model
from focore.trace import load, page, record
from focore.trace.page import answer_text, is_right
from tests.trace.test_traces import synthetic

HOSTILE = '</script><script>document.title="owned"</script><!--<img src=x onerror=alert(1)>{{data}}'


def data_of(html: str) -> Any:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    captured = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, captured.out, captured.err


def test_text_cannot_break_out_of_the_data(model: Model) -> None:
    trace = record(model, HOSTILE, chat=False, gen_length=4)
    html = page([trace], title=HOSTILE, truth=HOSTILE)
    assert html.count("<script") == 2 and html.count("</script>") == 2
    assert "<img" not in html and "<!--" not in html
    assert data_of(html)["title"] == HOSTILE


def test_the_page_fetches_nothing(model: Model) -> None:
    html = page([record(model, "Ann", gen_length=4)])
    assert "default-src 'none'" in html
    assert set(re.findall(r"https?://[^\"' ]+", html)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"(src|href)=|@import|url\(", html)


def test_a_page_of_256_tokens_is_under_1_mb() -> None:
    assert len(page([synthetic(256, 256)])) < 1e6


def test_the_numbers_on_the_page_are_those_of_the_trace(model: Model) -> None:
    trace = record(model, "Ann has", gen_length=8)
    run = data_of(page([trace], truth="no such answer"))["runs"][0]
    assert run["first"] == trace.canvas[0].tolist() and run["right"] is False
    tokens = list(run["first"])
    for change in run["changes"]:
        for place in range(0, len(change), 2):
            tokens[change[place]] = change[place + 1]
    assert tokens == trace.canvas[-1].tolist()


def test_the_answer_is_put_together_from_pieces(model: Model) -> None:
    assert model.text
    trace = record(model, "Ann", gen_length=14, prefix="has 😀 two", chat=False)
    assert answer_text(trace).startswith("has 😀 two")


@pytest.mark.parametrize(
    ("answer", "truth", "right"),
    [
        ("4+3=7\nThe answer is 7", "7", True),
        ("7 is wrong, it is 8", "7", False),
        ("It costs $1,200.00 in all", "1200", True),
        ("", "7", False),
        ("The capital is Paris.", "paris", True),
        ("The capital is Rome.", "Paris", False),
    ],
)
def test_right_and_wrong(answer: str, truth: str, right: bool) -> None:
    assert is_right(answer, truth) is right


def test_the_command_writes_a_page(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "run.html"
    arguments = ["trace", "Ann <b>has", "-m", str(folder), "--gen-length", "6", "-o", str(file)]
    code, out, err = run(
        capsys, *arguments, "--method", "confidence, focore", "-O", "core_tokens=2"
    )
    assert (code, out.strip(), err) == (0, str(file), "")
    assert [each["method"] for each in data_of(file.read_text())["runs"]] == [
        "confidence",
        "focore",
    ]


def test_the_command_keeps_a_trace_and_draws_it_later(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    kept, file = tmp_path / "run.npz", tmp_path / "run.html"
    asked = ["trace", "Ann has [MASK:3] apples", "--infill", "-m", str(folder)]
    assert run(capsys, *asked, "-o", str(kept))[0] == 0
    assert load(kept).steps == 3
    assert run(capsys, "trace", "--load", str(kept), "-o", str(file))[0] == 0
    assert len(data_of(file.read_text())["runs"]) == 1


def test_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK\x03\x04 no zip")
    mistakes = [
        (["trace"], "either a prompt or --load"),
        (["trace", "hi", "--load", str(broken)], "either a prompt or --load"),
        (["trace", "--load", str(broken)], "broken.npz: not a trace"),
        (["trace", "hi", "-m", str(folder), "--method", "focor"], "did you mean 'focore'"),
        (["trace", "hi", "-m", str(folder), "--method", ","], "no method"),
        (["trace", "hi", "-m", str(folder), "--infill"], "has no blank"),
        (
            ["trace", "a [MASK]", "-m", str(folder), "--infill", "--gen-length", "3"],
            "gen_length is not an option of infill",
        ),
        (["trace", "hi", "-m", str(folder), "-o", "/no/such/x.html"], "cannot be written"),
        (
            ["trace", "hi", "-m", str(folder), "--method", "cfg,focore", "-o", "a.npz"],
            "a trace is of one run",
        ),
    ]
    for arguments, message in mistakes:
        more = [] if "--load" in arguments or "--infill" in arguments else ["--gen-length", "2"]
        code, out, err = run(capsys, *arguments, *more)
        assert code == 2 and out == "" and err.count("\n") == 1, err
        assert err.startswith("focore: ") and message in err
