"""Merges a LoRA adapter into a model's weights, so that the adapted model costs what the plain one does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_unflatten
from safetensors import SafetensorError, safe_open

from plgd.engine.mlx.gguf import source_sha256
from plgd.errors import DamagedModel, UnsupportedModel

__all__ = ("Adapter", "merge_adapter", "read_adapter")

# peft names a pair of matrices after the layer it adds to.
KEY: Final = re.compile(r"(?:base_model\.model\.)?(?P<layer>.+)\.lora_(?P<side>[AB])\.weight")


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter in memory.

    Attributes:
        scale: alpha / rank, the factor of every product.
        base_sha256: of the file with the weights it was trained on.
        pairs: from a layer's path in the model to its A [rank, inputs] and B [outputs, rank].
    """

    scale: float
    base_sha256: str
    pairs: dict[str, tuple[mx.array, mx.array]]


def read_adapter(path: Path, *, name: str) -> Adapter:
    """Read an adapter in peft's naming, with `rank`, `alpha` and `base_sha256` in the file's metadata.

    Args:
        path: a safetensors file.
        name: the model it belongs to, for messages.

    Raises:
        DamagedModel: missing, cut short, not a safetensors file, or a matrix without its partner.
        UnsupportedModel: it does not say its rank, alpha and base.
    """
    sides: dict[str, dict[str, mx.array]] = {}
    try:
        with safe_open(path, framework="mlx") as file:
            metadata: dict[str, str] = file.metadata() or {}
            for key in file.keys():  # noqa: SIM118  # the handle is no mapping
                match = KEY.fullmatch(key)
                if match is None:
                    raise UnsupportedModel.of(name, f"its adapter {path.name} holds {key}, which is no LoRA matrix")
                sides.setdefault(match["layer"], {})[match["side"]] = file.get_tensor(key)
    except (OSError, SafetensorError) as error:
        raise DamagedModel.adapter(name, path.name, str(error)) from error
    for layer, pair in sides.items():
        if len(pair) != 2:
            raise DamagedModel.adapter(name, path.name, f"one of the two matrices of {layer} is missing")
    try:
        scale = float(metadata["alpha"]) / float(metadata["rank"])
        base_sha256 = metadata["base_sha256"]
    except (KeyError, ValueError, ZeroDivisionError) as error:
        raise UnsupportedModel.of(
            name, f"its adapter {path.name} does not say its rank, alpha and base_sha256"
        ) from error
    return Adapter(scale, base_sha256, {layer: (pair["A"], pair["B"]) for layer, pair in sides.items()})


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
