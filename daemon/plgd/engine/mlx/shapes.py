"""Fixed shapes: on CUDA every new pair of block width and KV length costs 50 to 80 ms once, so there are few of them.

A plan for the attention kernel is built per shape there. Blocks are filled up to one of a handful of widths, and
attention gets keys and values whose length is rounded up, with a mask over the rest. One-token passes are free of this
cost and stay as they are.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, Final

import mlx.core as mx
from mlx_lm.models.cache import KVCache

__all__ = ("CUDA_SHAPES", "FixedShapes", "RoundedKVCache")


@dataclass(frozen=True, slots=True)
class FixedShapes:
    """Which shapes there are.

    Attributes:
        widths: the tokens of a pass, ascending.
        kv_step: the keys and values that attention gets are a multiple of this.
    """

    widths: tuple[int, ...]
    kv_step: int

    def fill(self, width: int) -> int:
        """Return the width that a pass of so many tokens is filled up to; past the last, and at one, its own."""
        place = bisect_left(self.widths, width)
        return self.widths[place] if width > 1 and place < len(self.widths) else width


CUDA_SHAPES: Final = FixedShapes(widths=(2, 4, 8, 16, 32, 64, 128, 256, 512), kv_step=512)


class _Placed:
    """Has a segment. It is a slot, as it is no part of a cache's state."""

    __slots__ = ("segment",)

    segment: Any


class RoundedKVCache(KVCache, _Placed):  # type: ignore[misc]  # mlx-lm has no annotations
    """A KV cache that hands attention a rounded length, and the mask that belongs to it.

    Args:
        kv_step: the length is a multiple of this.

    Attributes:
        segment: where its keys and values lie in an array of several sequences (`plgd.engine.mlx.flat_keys`); they
            are slices of that as long as these are the very arrays that it names.
    """

    def __init__(self, kv_step: int) -> None:
        super().__init__()
        self.keys: mx.array | None = None
        self.values: mx.array | None = None
        self.offset = 0
        self.kv_step = kv_step
        self.segment = None

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Append keys and values [B, H, T, D]; see `KVCache`."""
        self.segment = None
        n_new = keys.shape[2]
        all_keys, all_values = self._grow(self.keys, keys), self._grow(self.values, values)
        end = self.offset + n_new
        all_keys[..., self.offset : end, :] = keys
        all_values[..., self.offset : end, :] = values
        self.keys, self.values, self.offset = all_keys, all_values, end
        # A one-token pass is free of plans; it attends to no more than there is.
        if n_new > 1:
            end = self.length_after(0)
        return all_keys[..., :end, :], all_values[..., :end, :]

    def _grow(self, held: mx.array | None, new: mx.array) -> mx.array:
        """Return an array [B, H, rounded length, D] that starts with what is held and has room for what is new."""
        missing = self.length_after(new.shape[2]) - (0 if held is None else held.shape[2])
        if held is not None and missing <= 0:
            return held
        fresh = mx.zeros((*new.shape[:2], missing, new.shape[3]), new.dtype)
        return fresh if held is None else mx.concatenate([held, fresh], axis=2)

    def make_mask(self, N: int, return_array: bool = False, window_size: int | None = None) -> Any:  # noqa: N803, ANN401
        """Make the mask of the coming pass of N tokens: [N, rounded length]."""
        if N == 1:
            return super().make_mask(N, return_array=return_array, window_size=window_size)
        rows = mx.arange(self.length_after(N))
        places = mx.arange(self.offset, self.offset + N)[:, None]
        mask = rows <= places
        return mask if window_size is None else mask & (rows > places - window_size)

    def length_after(self, n_new: int) -> int:
        """Return the rounded length with so many more tokens."""
        return -(-(self.offset + n_new) // self.kv_step) * self.kv_step
