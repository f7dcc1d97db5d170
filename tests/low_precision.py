"""Small models that round: what drafted replies diverge on."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_map_with_path

from plgd.engine.mlx.model import MlxModel
from tiny_models import make_network

__all__ = ("SplitLinear", "low_precision_model")


class SplitLinear(nn.Module):  # type: ignore[misc]  # mlx-lm has no annotations
    """A product that adds up wide passes in two halves, as kernels for many rows do, and narrow ones in one go.

    Args:
        weight: [outputs, inputs].
        widest_narrow: passes of more tokens are wide.
    """

    def __init__(self, weight: mx.array, widest_narrow: int) -> None:
        super().__init__()
        self.weight = weight
        self._widest_narrow = widest_narrow

    def __call__(self, x: mx.array) -> mx.array:
        if x.shape[1] <= self._widest_narrow:
            return x @ self.weight.T
        half = x.shape[-1] // 2
        return x[..., :half] @ self.weight[:, :half].T + x[..., half:] @ self.weight[:, half:].T


def low_precision_model(
    config: dict[str, Any], dtype: mx.Dtype, widest_narrow: int | None = None, *, kv_bits: int = 0
) -> MlxModel:
    """Make a small model, all of whose products round otherwise in passes wider than `widest_narrow`."""
    network = make_network(config)
    network.set_dtype(dtype)
    if widest_narrow is not None:
        layers = network.leaf_modules()

        def split(_path: str, layer: nn.Module) -> nn.Module:
            return SplitLinear(layer.weight, widest_narrow) if type(layer) is nn.Linear else layer

        network.update_modules(tree_map_with_path(split, layers, is_leaf=nn.Module.is_module))
    return MlxModel(
        network,
        tokenizer=None,  # type: ignore[arg-type]  # tokens are all that is needed here
        name="small",
        eos_tokens=frozenset(),
        context_limit=512,
        kv_bits=kv_bits,
    )
