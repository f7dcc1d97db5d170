"""Rollback over mlx-lm's caches: every drop is checked, and every kind of cache has a way back.

Caches that keep one row per token, such as `KVCache`, drop their tail. A rotating window that is full, or a recurrent
or convolution state, has no tail to drop: such a cache is *snapshotted* before a block and restored on a miss, and the
tokens that were accepted are fed again at the head of the next block. A snapshot costs nothing by itself: mlx arrays
are never changed under a handle, so keeping the old handles keeps the old state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import mlx.core as mx
from mlx_lm.models.cache import (
    CacheList,
    ChunkedKVCache,
    KVCache,
    QuantizedKVCache,
    RotatingKVCache,
)

from plgd.errors import RollbackFailed

__all__ = (
    "TRIMS_ONLY",
    "CacheRollback",
    "RollbackMethod",
    "copy_state",
    "drops_rows",
    "keeps_all_rows",
    "leaves_of",
    "restore_state",
    "trim_rows",
)

# Model types for which mlx-lm lets a wide pass look back one token further than a one-token pass, once the window is
# full: drafted and plain output could not be equal there.
TRIMS_ONLY: Final = frozenset({"plamo3"})

# One row per token, appended at the end and never moved: dropping the tail is exact. `ConcatenateKVCache` is no such
# cache: its `trim` lowers the offset, and the next update brings the dropped rows back.
ROW_CACHES: Final = (KVCache, QuantizedKVCache, ChunkedKVCache)


@dataclass(frozen=True, slots=True)
class RollbackMethod:
    """How a model's caches are rolled back.

    Attributes:
        by_snapshot: whether accepted tokens are fed again after a miss; False means that tails are dropped.
        where: the cache that decides, such as `ArraysCache of layer 0`; empty when all drop their tails.
    """

    by_snapshot: bool
    where: str


@dataclass(slots=True)
class _Leaf:
    """One cache of the list, or of a list inside it, as it was before the block."""

    cache: Any
    where: str
    offset: int
    snapshot: dict[str, Any] | None

    @property
    def grown(self) -> int:
        """Rows that the block added."""
        return int(self.cache.offset) - self.offset


class CacheRollback:
    """Takes a model's caches back to where they were before the last tokens of a block.

    Call `begin` before a block that may be rolled back, then `keep`, once or more with ever fewer tokens, or `release`.

    Args:
        caches: mlx-lm's cache list; the list may gain other cache objects between blocks.
    """

    def __init__(self, caches: list[Any]) -> None:
        self._caches = caches
        self._leaves: list[_Leaf] = []
        self._width = 0

    def begin(self, width: int) -> None:
        """Note the state before a block.

        Args:
            width: the tokens that the block will feed.
        """
        self._width = width
        self._leaves = [
            _Leaf(
                cache,
                where,
                int(getattr(cache, "offset", 0)),
                None if _drops_its_tail(cache, width) else copy_state(cache),
            )
            for cache, where in leaves_of(self._caches)
        ]

    def release(self) -> None:
        """Let go of the state before the block; the whole block stays."""
        self._leaves = []

    def keep(self, n: int) -> int:
        """Keep the first n tokens of the block and drop the others.

        Returns:
            How many tokens of the block the caches still hold: n, or 0 when they went back to before the block, and
            the caller feeds the kept tokens again.

        Raises:
            RollbackFailed: a cache did not go where it should.
        """
        if all(leaf.snapshot is None and leaf.grown in (self._width, 0) for leaf in self._leaves):
            for leaf in self._leaves:
                trim_rows(leaf.cache, min(self._width - n, leaf.grown), leaf.where)
            self._width = n
            return n
        leaves, self._leaves = self._leaves, []
        for leaf in leaves:
            if leaf.snapshot is None:
                trim_rows(leaf.cache, leaf.grown, leaf.where)
            else:
                restore_state(leaf.cache, leaf.snapshot)
        return 0

    def method(self, width: int) -> RollbackMethod:
        """Say how a block of this width would be rolled back now."""
        for cache, where in leaves_of(self._caches):
            if not _drops_its_tail(cache, width):
                return RollbackMethod(by_snapshot=True, where=where)
        return RollbackMethod(by_snapshot=False, where="")


def leaves_of(caches: list[Any]) -> Iterator[tuple[Any, str]]:
    """Yield every cache that holds state itself, and where it is."""
    for layer, cache in enumerate(caches):
        for leaf in _flatten(cache):
            yield leaf, f"{type(leaf).__name__} of layer {layer}"


def _flatten(cache: object) -> Iterator[object]:
    if isinstance(cache, CacheList):
        for inner in cache.caches:
            yield from _flatten(inner)
    else:
        yield cache


def _drops_its_tail(cache: object, width: int) -> bool:
    """Whether the cache can drop tokens of the coming block afterwards."""
    if isinstance(cache, RotatingKVCache):
        # Once full it overwrites or cuts its oldest rows; what `is_trimmable` says now is about now.
        return bool(cache.offset + width < cache.max_size)
    return drops_rows(cache)


def drops_rows(cache: object) -> bool:
    """Whether the cache keeps one row per token, so that its tail can be dropped."""
    return isinstance(cache, ROW_CACHES)


def keeps_all_rows(cache: object) -> bool:
    """Whether the cache keeps one row per token from the first on, so that any tail can be dropped."""
    # Chunks lose their beginning.
    return drops_rows(cache) and not isinstance(cache, ChunkedKVCache)


def copy_state(cache: object) -> dict[str, Any]:
    """Take down a cache's state; whatever the cache does then, this stays."""
    return {name: _handles(value) for name, value in vars(cache).items()}


def restore_state(cache: object, state: dict[str, Any]) -> None:
    """Put a state back that was taken down; it can be put back again."""
    vars(cache).clear()
    vars(cache).update({name: _handles(value) for name, value in state.items()})


def trim_rows(cache: Any, n: int, where: str) -> None:  # noqa: ANN401  # mlx-lm's caches share no type
    """Drop the last n rows of a cache; what `trim` returns is not trusted.

    Raises:
        RollbackFailed: the cache did not drop exactly n.
    """
    before = int(cache.offset)
    if n:
        cache.trim(n)
    went = before - int(cache.offset)
    if went != n:
        raise RollbackFailed.of(n, went, where)


def _handles(value: object) -> object:
    """Copy a cache's attributes with a new handle for every array; an alias would follow writes into the cache."""
    if isinstance(value, mx.array):
        return mx.array(value)
    if isinstance(value, dict):
        return {key: _handles(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_handles(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_handles(item) for item in value)
    return value
