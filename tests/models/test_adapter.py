"""Merging adapters, on small random models."""

from __future__ import annotations

import json
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx.utils import tree_flatten
from mlx_lm.models.llama import Model, ModelArgs

from plgd.engine.mlx.adapter import merge_adapter
from plgd.engine.mlx.adapter_file import read_adapter
from plgd.errors import DamagedModel, UnsupportedModel

SHA256 = "ab" * 32
METADATA = {"rank": "4", "alpha": "8", "base_sha256": SHA256}
QUERY = "model.layers.0.self_attn.q_proj"
DOWN = "model.layers.1.mlp.down_proj"
SHAPES = {QUERY: (64, 64), DOWN: (64, 96)}


def network(*, quantized: bool) -> Model:
    """Return a small llama with random weights, the same each time."""
    mx.random.seed(3)
    arguments = ModelArgs(
        model_type="llama",
        hidden_size=64,
        num_hidden_layers=2,
        intermediate_size=96,
        num_attention_heads=4,
        rms_norm_eps=1e-5,
        vocab_size=32,
        attention_bias=True,
    )
    model = Model(arguments)
    model.set_dtype(mx.float16)
    if quantized:
        nn.quantize(model, group_size=32, bits=4)
    return model


def pairs() -> dict[str, mx.array]:
    """Return an adapter's matrices for two layers, in peft's naming."""
    mx.random.seed(4)
    return {
        f"base_model.model.{layer}.lora_{side}.weight": mx.random.normal(shape).astype(mx.float16)
        for layer, (n_outputs, n_inputs) in SHAPES.items()
        for side, shape in (("A", (4, n_inputs)), ("B", (n_outputs, 4)))
    }


def named_by_mlx(tensors: dict[str, mx.array]) -> dict[str, mx.array]:
    """Rename an adapter's matrices as mlx-lm has them: transposed, since it multiplies from the other side."""
    return {
        key.removeprefix("base_model.model.").replace(f"lora_{side}.weight", f"lora_{side.lower()}"): matrix.T
        for key, matrix in tensors.items()
        for side in "AB"
        if f"lora_{side}" in key
    }


def write_adapter(folder: Path, tensors: dict[str, mx.array], metadata: dict[str, str] = METADATA) -> Path:
    """Write an adapter, and beside it the configuration of the base that it belongs to."""
    (folder / "config.json").write_text(json.dumps({"source": {"format": "gguf", "sha256": SHA256}}))
    mx.save_safetensors(str(folder / "adapter.safetensors"), tensors, metadata=metadata)
    return folder / "adapter.safetensors"


def dense(layer: nn.Module) -> mx.array:
    """Return a layer's weight in float32, dequantized in one step by mlx."""
    if isinstance(layer, nn.QuantizedLinear):
        parts = (layer.weight, layer.scales.astype(mx.float32), layer.biases.astype(mx.float32))
        return mx.dequantize(*parts, layer.group_size, layer.bits)
    return mx.array(layer.weight, mx.float32)


@pytest.mark.parametrize("naming", ["peft", "mlx-lm"])
@pytest.mark.parametrize("quantized", [False, True])
def test_merged_weight_is_the_sum(tmp_path: Path, quantized: bool, naming: str) -> None:
    """Each named layer becomes W + alpha / rank * B @ A in float32, keeps its bias, and no other layer changes."""
    plain, model, tensors = network(quantized=quantized), network(quantized=quantized), pairs()
    written = named_by_mlx(tensors) if naming == "mlx-lm" else tensors
    assert merge_adapter(model, write_adapter(tmp_path, written), name="m", folder=tmp_path) == 2
    before, after = dict(plain.named_modules()), dict(model.named_modules())
    for layer in SHAPES:
        a, b = (tensors[f"base_model.model.{layer}.lora_{side}.weight"].astype(mx.float32) for side in "AB")
        merged = after[layer].weight
        assert merged.dtype == mx.float32
        assert mx.allclose(merged, dense(before[layer]) + 2.0 * (b @ a), atol=1e-5).item()
    assert mx.array_equal(after[QUERY].bias, before[QUERY].bias).item()
    assert "bias" not in after[DOWN]
    others = {key: value for key, value in tree_flatten(plain.parameters()) if key.rsplit(".", 1)[0] not in SHAPES}
    kept = dict(tree_flatten(model.parameters()))
    assert all(mx.array_equal(value, kept[key]).item() for key, value in others.items())


def test_adapter_of_another_base(tmp_path: Path) -> None:
    """An adapter is never added to weights that it was not made for."""
    adapter = write_adapter(tmp_path, pairs(), METADATA | {"base_sha256": "cd" * 32})
    refuse(tmp_path, adapter, UnsupportedModel, r"SHA-256 cdcdcdcdcdcdcdcd\.\.\., these have abababababababab")


def test_base_without_a_record(tmp_path: Path) -> None:
    """A folder that does not say where its weights come from gets no adapter."""
    adapter = write_adapter(tmp_path, pairs())
    (tmp_path / "config.json").write_text("{}")
    refuse(tmp_path, adapter, UnsupportedModel, "none on record")


def test_layer_that_is_not_there(tmp_path: Path) -> None:
    """A key that names no layer of the model is refused, before anything was changed."""
    tensors = pairs() | {
        "base_model.model.model.layers.9.mlp.up_proj.lora_A.weight": mx.zeros((4, 64)),
        "base_model.model.model.layers.9.mlp.up_proj.lora_B.weight": mx.zeros((96, 4)),
    }
    refuse(tmp_path, write_adapter(tmp_path, tensors), UnsupportedModel, r"model\.layers\.9\.mlp\.up_proj.* lacks")


def test_layer_of_another_kind(tmp_path: Path) -> None:
    """An adapter for a layer that is no matrix product is refused."""
    tensors = {
        "model.norm.lora_A.weight": mx.zeros((4, 64)),
        "model.norm.lora_B.weight": mx.zeros((64, 4)),
    }
    refuse(tmp_path, write_adapter(tmp_path, tensors), UnsupportedModel, r"model\.norm, which the model lacks")


@pytest.mark.parametrize(("side", "shape"), [("A", (4, 65)), ("B", (63, 4)), ("A", (3, 64))])
def test_shape_that_does_not_fit(tmp_path: Path, side: str, shape: tuple[int, int]) -> None:
    """Matrices whose product has another shape than the weight are refused with both shapes."""
    tensors = pairs() | {f"base_model.model.{QUERY}.lora_{side}.weight": mx.zeros(shape)}
    refuse(tmp_path, write_adapter(tmp_path, tensors), UnsupportedModel, r"of shape \(64, 64\)")


def test_numbers_that_are_not_finite(tmp_path: Path) -> None:
    """An adapter with a NaN in it is damaged."""
    tensors = pairs() | {f"base_model.model.{QUERY}.lora_A.weight": mx.full((4, 64), mx.nan)}
    refuse(tmp_path, write_adapter(tmp_path, tensors), DamagedModel, "not finite")


def refuse(folder: Path, adapter: Path, kind: type[Exception], reason: str) -> None:
    """Check that merging fails for a reason and leaves the model as it was."""
    model = network(quantized=True)
    before = dict(tree_flatten(model.parameters()))
    with pytest.raises(kind, match=reason):
        merge_adapter(model, adapter, name="m", folder=folder)
    after = dict(tree_flatten(model.parameters()))
    assert before.keys() == after.keys()
    assert all(mx.array_equal(value, after[key]).item() for key, value in before.items())


def test_missing_adapter(tmp_path: Path) -> None:
    """A missing adapter says that the base works without it."""
    with pytest.raises(DamagedModel, match=r"none\.safetensors.*`m-base` works without"):
        read_adapter(tmp_path / "none.safetensors", name="m")


@pytest.mark.parametrize("n_bytes", [0, 5, 200, 1000])
def test_adapter_that_is_cut_short(tmp_path: Path, n_bytes: int) -> None:
    """An adapter file that is cut anywhere is damaged."""
    adapter = write_adapter(tmp_path, pairs())
    adapter.write_bytes(adapter.read_bytes()[:n_bytes])
    with pytest.raises(DamagedModel, match="cannot be used"):
        read_adapter(adapter, name="m")


def test_matrix_without_its_partner(tmp_path: Path) -> None:
    """An A without a B is damaged."""
    tensors = pairs()
    del tensors[f"base_model.model.{QUERY}.lora_B.weight"]
    with pytest.raises(DamagedModel, match=f"one of the two matrices of {QUERY}"):
        read_adapter(write_adapter(tmp_path, tensors), name="m")


@pytest.mark.parametrize("key", ["rank", "alpha", "base_sha256"])
def test_metadata_that_is_missing(tmp_path: Path, key: str) -> None:
    """An adapter that does not say its rank, alpha or base cannot be merged rightly and is refused."""
    metadata = {name: value for name, value in METADATA.items() if name != key}
    with pytest.raises(UnsupportedModel, match="rank, alpha and base_sha256"):
        read_adapter(write_adapter(tmp_path, pairs(), metadata), name="m")


def test_key_that_is_no_lora_matrix(tmp_path: Path) -> None:
    """Anything beside LoRA pairs in the file is refused rather than dropped."""
    adapter = write_adapter(tmp_path, pairs() | {"model.norm.weight": mx.ones((64,))})
    with pytest.raises(UnsupportedModel, match=r"model\.norm\.weight"):
        read_adapter(adapter, name="m")
