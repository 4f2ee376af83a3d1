"""Official checkpoints load as published; bad ones are named, file and key."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import focore
from focore.model import llada
from focore.model.transformer import Config, Native, Transformer
from focore.model.weights import their_name
from tests.support import DREAM, LLADA, random_transformer, write_checkpoint

IDS = torch.tensor([[1, 2, 3, 38, 38]])


@pytest.mark.parametrize("config", [LLADA, DREAM], ids=["llada", "dream"])
@pytest.mark.parametrize("shards", [1, 3])
def test_a_checkpoint_loads_as_published(tmp_path: Path, config: Config, shards: int) -> None:
    written = write_checkpoint(tmp_path, config, shards=shards)
    expected = focore.Model("written", Native(written), None).logits(IDS)
    model = focore.load(tmp_path)
    assert torch.equal(model.logits(IDS), expected)
    assert model.mask_id == 38 and model.end_ids == (39,)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
def test_dtypes(tmp_path: Path, dtype: str) -> None:
    write_checkpoint(tmp_path)
    model = focore.load(tmp_path, dtype=dtype)
    assert model.denoiser.dtype == getattr(torch, dtype)
    wide = focore.load(tmp_path, dtype="float64").logits(IDS)
    found = model.logits(IDS)
    assert found.dtype == (torch.float64 if dtype == "float64" else torch.float32)
    tolerance = {"float32": 1e-4, "float64": 0, "float16": 0.05, "bfloat16": 0.5}[dtype]
    assert (found - wide).abs().max() <= tolerance
    made = focore.generate(model, [1, 2], gen_length=6)
    assert len(made.tokens) == 6 and 38 not in made.tokens


@pytest.mark.parametrize(
    ("stored", "chosen"),
    [
        (torch.float32, torch.float32),
        (torch.bfloat16, torch.bfloat16),
        (torch.float16, torch.float32),
    ],
)
def test_auto_keeps_what_is_stored(
    tmp_path: Path, stored: torch.dtype, chosen: torch.dtype
) -> None:
    write_checkpoint(tmp_path, dtype=stored)
    assert focore.load(tmp_path, device="cpu").denoiser.dtype == chosen


def change(folder: Path, **fields: object) -> None:
    path = folder / "config.json"
    values = json.loads(path.read_text()) | fields
    values = {key: value for key, value in values.items() if value != "absent"}
    path.write_text(json.dumps(values))


def without(folder: Path, key: str) -> None:
    tensors = load_file(folder / "model.safetensors")
    del tensors[key]
    save_file(tensors, folder / "model.safetensors")


def reshaped(folder: Path, key: str) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors[key] = tensors[key][:, :5].contiguous()
    save_file(tensors, folder / "model.safetensors")


def truncated(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


Q = "model.transformer.blocks.1.q_proj.weight"
BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing key": (lambda f: without(f, Q), rf"key {Q} is missing"),
    "wrong shape": (
        lambda f: reshaped(f, Q),
        rf"model\.safetensors: {Q} has shape \(32, 5\), config\.json asks for \(32, 32\)",
    ),
    "truncated": (truncated, r"model\.safetensors: not a complete safetensors file"),
    "pickle": (pickled, r"pytorch_model\.bin: pickled weights are not loaded"),
    "no weights": (
        lambda f: (f / "model.safetensors").unlink(),
        r"neither model\.safetensors nor model\.safetensors\.index\.json",
    ),
    "unknown type": (lambda f: change(f, model_type="gpt2"), r"model_type 'gpt2' is not supported"),
    "no mask": (lambda f: change(f, mask_token_id="absent"), r"key 'mask_token_id' is missing"),
    "mask too large": (lambda f: change(f, mask_token_id=40), r"'mask_token_id' is beyond"),
    "not a number": (lambda f: change(f, n_layers="two"), r"key 'n_layers' is 'two'"),
    "no heads": (lambda f: change(f, n_heads=0), r"'n_heads' is 0, expected a whole number"),
    "half a layer": (lambda f: change(f, n_layers=2.0), r"'n_layers' is 2\.0, expected a whole"),
    "no turn": (lambda f: change(f, rope_theta=0), r"'rope_theta' is 0, expected a number above"),
    "no end": (lambda f: change(f, rope_theta=float("inf")), r"'rope_theta' is inf, expected"),
    "another form": (lambda f: change(f, layer_norm_type="low"), r"'layer_norm_type' is 'low'"),
    "tied": (lambda f: change(f, weight_tying=True), r"'weight_tying' is True; only False"),
    "no config": (lambda f: (f / "config.json").unlink(), r"config\.json: no such file"),
    "bad config": (lambda f: (f / "config.json").write_text("{"), r"not readable as JSON"),
    "odd config": (lambda f: (f / "config.json").write_text("[]"), r"expected a JSON object"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_checkpoints(tmp_path: Path, name: str) -> None:
    write_checkpoint(tmp_path)
    spoil, message = BROKEN[name]
    spoil(tmp_path)
    with pytest.raises(focore.CheckpointError, match=message) as error:
        focore.load(tmp_path)
    assert str(tmp_path) in str(error.value) and "\n" not in str(error.value)


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, shards=3)
    (tmp_path / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(focore.CheckpointError, match="model-00002-of-00003"):
        focore.load(tmp_path)


def test_an_index_without_a_map_is_named(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, shards=2)
    (tmp_path / "model.safetensors.index.json").write_text("{}")
    with pytest.raises(focore.CheckpointError, match="weight_map"):
        focore.load(tmp_path)


def test_a_file_is_not_a_checkpoint(tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    with pytest.raises(focore.CheckpointError, match="name the folder"):
        focore.load(tmp_path / "model.safetensors")


def test_a_name_that_is_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(focore.CheckpointError, match="not a Hub id"):
        focore.load("no/such/folder")
    with pytest.raises(focore.CheckpointError, match="the Hub cannot be reached"):
        focore.load("nobody/nothing")


def test_the_hubs_cache_serves_without_a_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commit = "0" * 40
    repo = tmp_path / "models--someone--small-llada"
    write_checkpoint(repo / "snapshots" / commit)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    model = focore.load("someone/small-llada")
    assert model.name == "someone/small-llada"
    assert len(focore.generate(model, [1], gen_length=3).tokens) == 3

    from focore.available import available

    for name, broken in (("models--someone--broken", "{"), ("datasets--someone--data", "[1]")):
        other = tmp_path / name
        (other / "snapshots" / commit).mkdir(parents=True)
        (other / "snapshots" / commit / "config.json").write_text(broken)
        (other / "refs").mkdir()
        (other / "refs" / "main").write_text(commit)
    rows = {row["name"]: row for row in available()}
    assert rows["someone/small-llada"]["family"] == "llada"


@pytest.mark.parametrize("option", [{"dtype": "float8"}, {"device": "gpu"}])
def test_unknown_places(tmp_path: Path, option: dict[str, str]) -> None:
    write_checkpoint(tmp_path)
    with pytest.raises(focore.OptionError, match="unknown"):
        focore.load(tmp_path, **option)


@pytest.mark.parametrize("device", ["cuda:99", "mps:9"])
def test_a_device_that_is_not_there(tmp_path: Path, device: str) -> None:
    write_checkpoint(tmp_path)
    with pytest.raises(focore.OptionError, match=f"'{device}' is not available here"):
        focore.load(tmp_path, device=device)


def test_generation_config_adds_end_tokens_and_dreams_cut(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, DREAM)
    assert focore.load(tmp_path).denoiser.own_top_k == 50
    said = {"eos_token_id": [39, 37], "top_k": None}
    (tmp_path / "generation_config.json").write_text(json.dumps(said))
    model = focore.load(tmp_path)
    assert model.end_ids == (39, 37) and model.denoiser.own_top_k is None


def test_too_long_for_the_model() -> None:
    model = focore.Model("random", Native(random_transformer(LLADA, 0)), None)
    with pytest.raises(focore.OptionError, match="more than the model's 128 positions"):
        focore.generate(model, [1] * 100, gen_length=29)
    assert len(focore.generate(model, [1] * 100, gen_length=28, steps=1).tokens) == 28
    with pytest.raises(focore.OptionError, match="128 positions"):
        focore.infill(model, [38] * 129)
    with pytest.raises(focore.OptionError, match="expected"):
        model.logits(torch.tensor([1, 2]))


PEAK = """
import sys
import focore, focore.loading, transformers

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

before = peak()
model = focore.load(sys.argv[1], dtype=sys.argv[2])
weights = sum(p.numel() * p.element_size() for p in model.denoiser.transformer.parameters())
print((peak() - before) / weights, weights)
"""


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_loading_takes_little_more_than_the_weights(tmp_path: Path, dtype: str) -> None:
    large = replace(LLADA, width=2048, layers=12, heads=16, kv_heads=16, mlp_width=5632)
    large = replace(large, vocabulary=8192)
    with torch.device("meta"):
        slots = Transformer(large).slots()
    names = {llada_name(ours): slot.shape for ours, slot in slots.items()}
    where = {}
    for shard in range(5):
        file = f"model-{shard + 1:05d}-of-00005.safetensors"
        part = {
            name: torch.ones(names[name], dtype=torch.bfloat16) for name in list(names)[shard::5]
        }
        save_file(part, tmp_path / file)
        where |= dict.fromkeys(part, file)
    (tmp_path / "config.json").write_text(json.dumps(llada.fields(large)))
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    command = [sys.executable, "-c", PEAK, str(tmp_path), dtype]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ratio, weights = map(float, printed.split())
    print(f"{dtype}: {weights / 1e9:.2f} GB of weights, peak {ratio:.3f} x")
    assert weights > 1e9 and 0.95 < ratio <= 1.15


def llada_name(ours: str) -> str:
    return their_name(ours, llada.NAMES)
