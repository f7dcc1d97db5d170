"""Makes a model compute in float32: on a CPU that is the fastest precision, and the exact one.

Quantized products there run on kernels whose cost grows with every row, so a verify of width 8 would cost nearly 8
steps; dense float32 ones run on BLAS (1.7 steps, measured on SmolLM2-135M with OpenBLAS).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten, tree_unflatten
from mlx_lm.models.mla import MultiLinear, QuantizedMultiLinear
from mlx_lm.models.switch_layers import QuantizedSwitchLinear, SwitchLinear

__all__ = ("float32_bytes", "to_float32")

# A quantized layer and the dense one that computes the same. All dense ones take their weight's shape in reverse.
DENSE: Final[dict[type[nn.Module], type[nn.Module]]] = {
    nn.QuantizedLinear: nn.Linear,
    nn.QuantizedEmbedding: nn.Embedding,
    QuantizedSwitchLinear: SwitchLinear,
    QuantizedMultiLinear: MultiLinear,
}


def to_float32(model: nn.Module) -> Iterator[float]:
    """Dequantize every quantized layer and cast every floating weight, in place and layer by layer.

    Only one layer is in memory twice at a time. Quantized layers of an unknown kind keep their packed weights and
    get float32 scales.

    Yields:
        The share of the weights that is done, 0 to 1.
    """
    layers = _leaf_layers(model)
    total = sum(_stored_bytes(layer) for _, layer in layers) or 1
    done = 0
    for path, layer in layers:
        done += _stored_bytes(layer)
        # By exact type: a subclass computes something else.
        dense = _to_dense(layer) if type(layer) in DENSE else layer
        dense.set_dtype(mx.float32)
        mx.eval(dense.parameters())
        if dense is not layer:
            model.update_modules(tree_unflatten([(path, dense)]))
        yield done / total
    # Weights that a model holds outside its layers.
    model.set_dtype(mx.float32)
    mx.eval(model.parameters())


def float32_bytes(model: nn.Module) -> int:
    """Return the memory that the model's weights will take in float32."""
    total = 0
    for _, layer in _leaf_layers(model):
        weights_per_word = 32 // layer.bits if type(layer) in DENSE else 1
        total += 4 * weights_per_word * layer.weight.size if "weight" in layer else _stored_bytes(layer)
    return total


def _leaf_layers(model: nn.Module) -> list[tuple[str, nn.Module]]:
    return list(tree_flatten(model.leaf_modules(), is_leaf=nn.Module.is_module))


def _stored_bytes(layer: nn.Module) -> int:
    return sum(int(array.nbytes) for _, array in tree_flatten(layer.parameters()))


def _to_dense(layer: nn.Module) -> nn.Module:
    """Make the dense layer that computes what a quantized one does."""
    # Affine scales and biases are widened first, so that the product is not rounded to their precision.
    scales, biases = layer.scales, layer.get("biases")
    if layer.mode == "affine":
        scales, biases = scales.astype(mx.float32), biases.astype(mx.float32)
    weight = mx.dequantize(
        layer.weight,
        scales,
        biases,
        group_size=layer.group_size,
        bits=layer.bits,
        mode=layer.mode,
        global_scale=layer.get("global_scale"),
        dtype=mx.float32,
    )
    dense = DENSE[type(layer)](*reversed(weight.shape))
    dense.weight = weight
    # The constructors' default differs: a bias is there exactly when the quantized layer has one.
    dense.pop("bias", None)
    if "bias" in layer:
        dense.bias = layer.bias
    return dense
