"""Teaches a network's parts that look along a sequence to do so row by row; a pass of one sequence stays as it is.

- Modules that take an offset, which are rotary embeddings, turn each row by its own. They are given a subclass of their
  class.
- `scaled_dot_product_attention` attends row by row, or once for all rows where their keys lie in one array. mlx-lm's
  function is replaced in the Python modules that the network's classes come from.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, Final

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.rope_utils import Llama3RoPE, ProportionalRoPE, SuScaledRoPE, YarnRoPE

from plgd.engine.mlx.rows import FlatParts, RowMasks, RowOffsets, RowParts

__all__ = ("teach",)

ATTENTION: Final = "scaled_dot_product_attention"
BEHIND_VALUES: Final = ("cache", "scale", "mask", "sinks")

# They only hand their offset to mlx's kernel, which takes one for each of several sequences. A pass in which each token
# is a sequence of its own is turned at once, and bit for bit as row by row; on a CPU that is a quarter of the time.
TURNS_BY_TOKEN: Final = (nn.RoPE, Llama3RoPE, ProportionalRoPE, SuScaledRoPE, YarnRoPE)


def teach(network: nn.Module) -> None:
    """Teach a network; what has been taught already is left as it is."""
    for _, module in network.named_modules():
        kind = type(module)
        if "offset" in inspect.signature(kind.__call__).parameters and not issubclass(kind, _Taught):
            object.__setattr__(module, "__class__", _taught(kind))
        for base in kind.__mro__:
            source = sys.modules[base.__module__]
            original = getattr(source, ATTENTION, None)
            if original is not None and not hasattr(original, "plgd_original"):
                setattr(source, ATTENTION, _attend_by_rows(original))


class _Taught:
    """Marks modules that have been taught."""


def _taught(kind: type[nn.Module]) -> type[nn.Module]:
    """Make a subclass that turns each row by its own offset."""

    def call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # as the class
        everything = [*args, *kwargs.values()]
        offsets = next((value for value in everything if isinstance(value, RowOffsets)), None)
        turn = kind.__call__
        if offsets is None:
            return turn(self, *args, **kwargs)
        flat, *args_behind = args

        def turned_by(part: mx.array, offset: int | mx.array) -> mx.array:
            given = [offset if value is offsets else value for value in args_behind]
            named = {name: offset if value is offsets else value for name, value in kwargs.items()}
            found: mx.array = turn(self, part, *given, **named)
            return found

        if kind in TURNS_BY_TOKEN and flat.ndim == 4 and flat.shape[0] == 1:
            # [1, H, T, D] to [T, H, 1, D] and back
            return turned_by(flat.transpose(2, 1, 0, 3), offsets.places()).transpose(2, 1, 0, 3)
        parts = zip(offsets.layout.split(flat, -2), offsets.offsets, strict=True)
        return offsets.layout.join([turned_by(part, offset) for part, offset in parts], axis=-2)

    return type(kind.__name__, (_Taught, kind), {"__call__": call, "__module__": kind.__module__})


def _attend_by_rows(original: Callable[..., mx.array]) -> Callable[..., mx.array]:
    """Wrap mlx-lm's attention function of a Python module."""

    def attend(queries: mx.array, keys: Any, values: Any, *args: Any, **kwargs: Any) -> mx.array:  # noqa: ANN401
        if not isinstance(keys, RowParts | FlatParts):
            return original(queries, keys, values, *args, **kwargs)
        layout, named = keys.layout, {**dict(zip(BEHIND_VALUES, args, strict=False)), **kwargs}
        mask = named.pop("mask", None)
        if not isinstance(mask, RowMasks | None):
            raise TypeError("the network made a mask of its own, which knows nothing of rows")
        if isinstance(keys, FlatParts):
            seen = keys.mask(None if mask is None else mask.window_size)
            return original(queries, keys.array, values.array, **{**named, "cache": keys.caches[0], "mask": seen})
        masks = [None] * len(layout.widths) if mask is None else mask.masks
        rows = zip(layout.split(queries, 2), keys.parts, values.parts, keys.caches, masks, strict=True)
        return layout.join(
            [original(q, k, v, **{**named, "cache": own, "mask": m}) for q, k, v, own, m in rows], axis=2
        )

    attend.plgd_original = original  # type: ignore[attr-defined]  # says that it has been taught
    return attend
