"""Loading model folders: whole ones run in float32 on a CPU, broken ones say what is wrong."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx_lm.utils
import pytest
from mlx.utils import tree_flatten

from plgd.engine.mlx import load as load_module
from plgd.engine.mlx.load import load_model
from plgd.engine.mlx.precision import float32_bytes
from plgd.errors import DamagedModel, UnsupportedModel
from tiny_models import LLAMA, write_model

MOE: dict[str, Any] = LLAMA | {
    "model_type": "qwen3_moe",
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "moe_intermediate_size": 64,
    "norm_topk_prob": True,
    "head_dim": 32,
    "rope_theta": 10000.0,
}
MLA: dict[str, Any] = LLAMA | {
    "model_type": "deepseek_v3",
    "kv_lora_rank": 32,
    "q_lora_rank": None,
    "qk_rope_head_dim": 32,
    "qk_nope_head_dim": 32,
    "v_head_dim": 32,
    "first_k_dense_replace": 9,
    "rope_theta": 10000.0,
}


@pytest.fixture
def folder(tiny_folder: Path, tmp_path: Path) -> Path:
    """A copy of the small model, to be broken."""
    return shutil.copytree(tiny_folder, tmp_path / "model")


def edit_config(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a model folder's configuration."""
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    change(config)
    path.write_text(json.dumps(config), encoding="utf-8")


@pytest.mark.parametrize("config", [LLAMA, MOE, MLA], ids=lambda config: config["model_type"])
@pytest.mark.parametrize("bits", [4, 8])
def test_quantized_weights_become_dense(tmp_path: Path, config: dict[str, Any], bits: int) -> None:
    """On a CPU a quantized model becomes a dense float32 one that computes the same."""
    write_model(tmp_path / "model", config, bits=bits)
    model = load_model(tmp_path / "model", name="tiny")
    assert {mx.float32} == {weight.dtype for _, weight in tree_flatten(model.network.parameters())}
    packed, _ = mlx_lm.utils.load_model(tmp_path / "model")
    tokens = mx.array([[5, 6, 7, 300]])
    assert mx.allclose(packed(tokens), model.network(tokens), rtol=1e-3, atol=1e-3).item()


def test_size_in_float32_is_known_before(tmp_path: Path) -> None:
    """The memory that a model will take in float32 is known before its weights are read."""
    write_model(tmp_path / "model", MOE, bits=4)
    packed, _ = mlx_lm.utils.load_model(tmp_path / "model", lazy=True)
    expected = sum(weight.nbytes for _, weight in tree_flatten(load_model(tmp_path / "model", name="m").network))
    assert expected == float32_bytes(packed)


def test_biases_are_kept(tmp_path: Path) -> None:
    """Layers with a bias keep it when they become dense."""
    write_model(tmp_path / "model", LLAMA | {"attention_bias": True}, bits=4)
    layer = load_model(tmp_path / "model", name="tiny").network.layers[0].self_attn.q_proj
    assert isinstance(layer, nn.Linear)
    assert "bias" in layer


def test_too_large_for_float32_stays_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that would not fit into memory in float32 keeps its packed weights."""
    write_model(tmp_path / "model", bits=4)
    monkeypatch.setattr("plgd.engine.mlx.load.machine_memory", lambda: 1000)
    layer = load_model(tmp_path / "model", name="tiny").network.layers[0].self_attn.q_proj
    assert isinstance(layer, nn.QuantizedLinear)


def test_progress_runs_from_0_to_100(tiny_folder: Path) -> None:
    """Loading reports percent that only grow, from 0 to 100."""
    seen: list[float] = []
    load_model(tiny_folder, name="tiny", on_progress=seen.append)
    assert (0.0, 100.0) == (seen[0], seen[-1])
    assert len(seen) > 5
    assert sorted(seen) == seen


@pytest.mark.parametrize(
    ("written", "asked", "expected"),
    [
        ({"max_position_embeddings": 512}, 0, 512),
        ({"max_position_embeddings": 512}, 100, 100),
        ({"max_position_embeddings": 512}, 4096, 512),
        ({"n_ctx": 77}, 0, 77),
        ({"text_config": {"max_position_embeddings": 99}}, 0, 99),
        ({}, 0, 8192),
    ],
)
def test_context_limit(folder: Path, written: dict[str, Any], asked: int, expected: int) -> None:
    """The context limit is the configuration's, the user's where that is smaller, and a usual one for lack of both."""
    edit_config(folder, lambda config: config.pop("max_position_embeddings"))
    edit_config(folder, lambda config: config.update(written))
    model = load_model(folder, name="tiny", context_limit=asked)
    assert expected == model.context_limit == model.target().context_limit


def test_eos_tokens_come_from_all_files(folder: Path) -> None:
    """Generation configuration, tokenizer and chat template together say what ends a reply."""
    (folder / "generation_config.json").write_text('{"eos_token_id": [0, 7]}', encoding="utf-8")
    assert {0, 2, 7} == load_model(folder, name="tiny").eos_tokens


def remove(name: str) -> Callable[[Path], None]:
    """Break a folder by removing a file."""
    return lambda folder: (folder / name).unlink()


def write(name: str, content: bytes) -> Callable[[Path], None]:
    """Break a folder by writing a file."""

    def act(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return act


def cut(name: str) -> Callable[[Path], None]:
    """Break a folder by cutting a file's end off."""

    def act(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes()[:-100])

    return act


def configure(**changes: object) -> Callable[[Path], None]:
    """Break a folder by changing its configuration."""
    return lambda folder: edit_config(folder, lambda config: config.update(changes))


@pytest.mark.parametrize(
    ("breakage", "reason"),
    [
        (remove("config.json"), "has no config.json"),
        (write("config.json", b"{"), "config.json cannot be read"),
        (write("config.json", b"\xff"), "config.json cannot be read"),
        (write("config.json", b"[]"), "config.json"),
        (configure(model_type=None), "does not name a model_type"),
        (remove("model.safetensors"), "has no model"),
        (cut("model.safetensors"), "model.safetensors is cut short"),
        (write("model.safetensors", b"PK"), "is not a safetensors file"),
        (write("model.safetensors", b"\x04" + bytes(7) + b"[1] "), "is not a safetensors file"),
        (
            write("model.safetensors.index.json", b'{"weight_map": {"a": "model-2.safetensors"}}'),
            "2.safetensors is",
        ),
        (write("model.safetensors.index.json", b"[]"), "model.safetensors.index.json cannot be read"),
        (configure(num_hidden_layers=3), "do not fit its config.json"),
        (configure(num_hidden_layers=1), "do not fit its config.json"),
        (configure(hidden_size=128), "do not fit its config.json"),
        (remove("tokenizer.json"), "has no tokenizer.json"),
        (write("tokenizer.json", b"{}"), "tokenizer cannot be read"),
    ],
)
def test_damaged_folders_say_what_is_damaged(folder: Path, breakage: Callable[[Path], None], reason: str) -> None:
    """A folder with a missing, cut or foreign file is a DamagedModel that names the file."""
    breakage(folder)
    with pytest.raises(DamagedModel, match=reason):
        load_model(folder, name="tiny")


@pytest.mark.parametrize(
    ("breakage", "reason"),
    [
        (configure(model_type="abacus"), "abacus not supported"),
        (configure(model_type="phi3small"), "adds the causal mask as numbers"),
        (configure(model_type="olmo"), "needs another package"),
        (configure(model_file="run_me.py"), "custom module"),
        (configure(rms_norm_eps=None, hidden_size=None), "mlx-lm says"),
    ],
)
def test_unsupported_folders_say_why(folder: Path, breakage: Callable[[Path], None], reason: str) -> None:
    """An architecture that mlx-lm lacks, or one that wants to run code of its own, is an UnsupportedModel."""
    breakage(folder)
    with pytest.raises(UnsupportedModel, match=reason):
        load_model(folder, name="tiny")


def test_missing_adapter_is_damage(tiny_folder: Path, tmp_path: Path) -> None:
    """An adapter that is not there is reported, not ignored."""
    with pytest.raises(DamagedModel, match=r"none\.safetensors"):
        load_model(tiny_folder, name="tiny", adapter=tmp_path / "none.safetensors")


def test_graphs_stay_small_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """On CUDA mlx is asked for graphs of few kernels; elsewhere, and where the user has set it, nothing is changed."""
    monkeypatch.setenv("MLX_MAX_OPS_PER_BUFFER", "")  # so that it is as before in the end
    monkeypatch.delenv("MLX_MAX_OPS_PER_BUFFER")
    with pytest.raises(DamagedModel):
        load_model(Path("nowhere"), name="nowhere")
    assert "MLX_MAX_OPS_PER_BUFFER" not in os.environ
    monkeypatch.setattr(load_module, "on_cuda", lambda: True)
    for expected in ("20", "7"):
        with pytest.raises(DamagedModel):
            load_model(Path("nowhere"), name="nowhere")
        assert expected == os.environ["MLX_MAX_OPS_PER_BUFFER"]
        monkeypatch.setenv("MLX_MAX_OPS_PER_BUFFER", "7")
