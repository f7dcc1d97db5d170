"""The state key: all that a model's kept states depend on besides their tokens, as one word."""

from __future__ import annotations

import hashlib
import json

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten

from plgd.engine.mlx.device import describe_device
from plgd.engine.mlx.shapes import FixedShapes

__all__ = ("make_state_key",)


def make_state_key(network: nn.Module, *, kv_bits: int, shapes: FixedShapes | None) -> str:
    """Hash the weights, an adapter's included, the device, the libraries and how keys and values are kept.

    Args:
        network: mlx-lm's model.
        kv_bits: bits of a quantized key or value; 0 for those as they are.
        shapes: the fixed shapes that passes keep to, if they do.
    """
    device = describe_device()
    facts = {
        "weights": [
            (path, weight.shape, str(weight.dtype), _sum_bits(weight))
            for path, weight in tree_flatten(network.parameters())
        ],
        "device": (device.kind, device.name, device.blas),
        "versions": device.versions,
        "kv_bits": kv_bits,
        "kv_step": None if shapes is None else shapes.kv_step,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _sum_bits(weight: mx.array) -> int:
    """Sum the bits, weighted by their places, on the device, where it takes as long as one look at the weights."""
    bits = weight.flatten().view({1: mx.uint8, 2: mx.uint16}.get(weight.itemsize, mx.uint32)).astype(mx.uint32)
    # Odd factors: no changed bit is lost modulo 2**32.
    total = mx.sum(bits * (2 * mx.arange(bits.size, dtype=mx.uint32) + 1)).item()
    return int(total.real)
