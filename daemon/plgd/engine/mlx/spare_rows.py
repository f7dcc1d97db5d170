"""Spare rows: the room that a reply leaves behind its prompt in caches of one row per token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import mlx.core as mx
from mlx.utils import tree_flatten, tree_map

from plgd.engine.mlx.rollback import keeps_all_rows, leaves_of
from plgd.engine.mlx.shapes import RoundedKVCache

__all__ = ("copy_rows", "cut_spare_rows")

# An instruction and the first rounds of a reply fit in, so that nothing is copied before the first token.
ROOM: Final = 128
# Caches grow by so many rows (mlx-lm's `KVCache.step`); less is not worth a copy.
STEP: Final = 256


def cut_spare_rows(caches: list[Any]) -> None:
    """Give back the memory of rows that hold nothing or are others', but for room for the beginning of the next edit.

    Args:
        caches: mlx-lm's; nothing is being computed on them.
    """
    for cache in _with_rows(caches):
        n_rows = _room_for(cache)
        (_, longest), *_ = tree_flatten([cache.keys])
        if longest.shape[-2] - n_rows >= STEP or getattr(cache, "segment", None) is not None:
            _cut(cache, n_rows)


def copy_rows(caches: list[Any]) -> None:
    """Give caches rows of their own that share theirs with others, with room for the beginning of an edit."""
    for cache in _with_rows(caches):
        _cut(cache, _room_for(cache))


def _with_rows(caches: list[Any]) -> Iterator[Any]:
    for cache, _ in leaves_of(caches):
        # Chunks are bounded, and restore points hold on to their arrays.
        if keeps_all_rows(cache) and cache.keys is not None:
            yield cache


def _room_for(cache: Any) -> int:  # noqa: ANN401  # mlx-lm's caches share no type
    return -(-int(cache.offset + ROOM) // STEP) * STEP


def _cut(cache: Any, n_rows: int) -> None:  # noqa: ANN401  # as above
    cache.keys, cache.values = tree_map(lambda array: _copy(array, n_rows), (cache.keys, cache.values))
    if isinstance(cache, RoundedKVCache):
        cache.segment = None


def _copy(array: mx.array, n_rows: int) -> mx.array:
    """Copy the first rows of an array [B, H, rows, D]: a slice would hold on to all of it."""
    copy = mx.zeros((*array.shape[:-2], n_rows, array.shape[-1]), array.dtype)
    copy[..., : array.shape[-2], :] = array[..., :n_rows, :]
    mx.eval(copy)
    return copy
