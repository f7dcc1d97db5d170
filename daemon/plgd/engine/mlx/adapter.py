"""Merges a LoRA adapter into a model's weights, so that the adapted model costs what the plain one does."""

from __future__ import annotations

from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_unflatten

from plgd.engine.mlx.adapter_file import read_adapter
from plgd.engine.mlx.gguf import source_sha256
from plgd.errors import DamagedModel, UnsupportedModel

__all__ = ("merge_adapter",)


def merge_adapter(model: nn.Module, adapter: Path, *, name: str, folder: Path) -> int:
    """Add an adapter's products to a model's weights: W + alpha / rank * B @ A, computed in float32.

    Every layer that the adapter names becomes a dense float32 layer, whether it was quantized or not; the others
    stay as they are. When an error is raised the model is unchanged.

    Args:
        model: the loaded model; changed in place.
        adapter: a safetensors file, see `read_adapter`.
        name: the model's name, for messages.
        folder: where the model's weights came from; its `config.json` says which base they are.

    Returns:
        How many layers were changed.

    Raises:
        DamagedModel: the adapter is missing or damaged, or holds numbers that are not finite.
        UnsupportedModel: the adapter was made for another base, or names layers or shapes the model lacks.
    """
    read = read_adapter(adapter, name=name)
    base = source_sha256(folder)
    if base != read.base_sha256:
        raise UnsupportedModel.of(
            name,
            f"its adapter {adapter.name} was made for weights with SHA-256 {read.base_sha256[:16]}..., "
            f"these have {base[:16] + '...' if base else 'none on record'}",
        )
    layers = dict(model.named_modules())
    merged: list[tuple[str, nn.Module]] = []
    for path, (a, b) in sorted(read.pairs.items()):
        layer = layers.get(path)
        if not isinstance(layer, nn.Linear | nn.QuantizedLinear):
            raise UnsupportedModel.of(name, f"its adapter {adapter.name} changes {path}, which the model lacks")
        weight = _dense(layer)
        if a.ndim != 2 or b.ndim != 2 or a.shape[0] != b.shape[1] or weight.shape != (b.shape[0], a.shape[1]):
            raise UnsupportedModel.of(
                name, f"its adapter {adapter.name} has B {b.shape} and A {a.shape} for {path} of shape {weight.shape}"
            )
        merged.append((path, _linear(weight + read.scale * (b.astype(mx.float32) @ a.astype(mx.float32)), layer)))
    if not all(mx.isfinite(layer.weight).all().item() for _, layer in merged):
        raise DamagedModel.adapter(name, adapter.name, "it holds numbers that are not finite")
    model.update_modules(tree_unflatten(merged))
    return len(merged)


def _dense(layer: nn.Linear | nn.QuantizedLinear) -> mx.array:
    """Return a layer's weight in float32: [outputs, inputs]."""
    if not isinstance(layer, nn.QuantizedLinear):
        return mx.array(layer.weight, mx.float32)
    biases = layer.get("biases")
    return mx.dequantize(
        layer.weight,
        layer.scales.astype(mx.float32),
        None if biases is None else biases.astype(mx.float32),
        layer.group_size,
        layer.bits,
        layer.mode,
    )


def _linear(weight: mx.array, like: nn.Module) -> nn.Linear:
    """Make a dense layer of a weight [outputs, inputs], with the bias of the layer it replaces."""
    n_outputs, n_inputs = weight.shape
    bias = like.get("bias")
    layer = nn.Linear(n_inputs, n_outputs, bias=bias is not None)
    layer.weight = weight
    if bias is not None:
        layer.bias = bias.astype(mx.float32)
    return layer
