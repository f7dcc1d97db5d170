"""Flat keys: keys and values of several rows behind one another in one array, so that one attention serves all rows.

Each row has a segment of the array, and its cache holds that segment as a slice: to the row it looks like an array of
its own, and a pass alone copies it out again. So nothing has to be told when a row leaves, and a row that was rolled
back is still in its place. A mask says which slots a token sees.

It is for devices on which the number of kernels is what a pass costs. Attention row by row takes more of them with each
row, and new kinds of graphs with each new combination of widths; this takes as many as a pass of one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import mlx.core as mx

from plgd.engine.mlx.shapes import RoundedKVCache

__all__ = ("MAX_SLOTS", "FlatKeys", "Slots")

# More slots than that are not put into one array: each token would be compared with those of all other rows.
MAX_SLOTS: Final = 1 << 15


@dataclass(slots=True)
class _Segment:
    """Where a row's keys and values lie, and the slices of them that its cache holds.

    Attributes:
        flat: the array that they are part of.
        start: its first slot.
        length: its slots.
        keys: as the cache holds them [1, H, length, D].
        values: likewise.
    """

    flat: FlatKeys
    start: int
    length: int
    keys: mx.array
    values: mx.array

    def fits(self, cache: Any, width: int) -> bool:  # noqa: ANN401  # mlx-lm has no annotations
        """Tell whether the cache has held nothing else since, and so many more tokens leave the last slot free."""
        return cache.keys is self.keys and cache.values is self.values and cache.offset + width < self.length


@dataclass(frozen=True, slots=True)
class Slots:
    """What a pass does to the slots of a flat array; the same in all layers.

    Attributes:
        rows: for each row its segment's first slot, and its tokens so far.
        widths: the tokens that it feeds.
        n_filling: tokens behind them that belong to nobody.
        spare: the slot of all of these, which no row has reached.
        n_slots: of the array.
    """

    rows: tuple[tuple[int, int], ...]
    widths: tuple[int, ...]
    n_filling: int
    spare: int
    n_slots: int

    def written(self) -> mx.array:
        """Return the slot of each token [T]."""
        rows = zip(self.rows, self.widths, strict=True)
        slots = [start + offset + place for (start, offset), width in rows for place in range(width)]
        return mx.array([*slots, *[self.spare] * self.n_filling], mx.int32)

    def seen(self, window_size: int | None) -> mx.array:
        """Return which slots each token sees [T, S]: those of its row up to its own, of a window the last ones.

        Args:
            window_size: how many tokens it sees, itself included; None for all.
        """
        last = self.written()
        rows = zip(self.rows, self.widths, strict=True)
        starts = [start for (start, _), width in rows for _ in range(width)]
        first = mx.array([*starts, *[self.spare] * self.n_filling], mx.int32)
        if window_size is not None:
            first = mx.maximum(first, last - (window_size - 1))
        slots = mx.arange(self.n_slots)
        return (slots >= first[:, None]) & (slots <= last[:, None])


class FlatKeys:
    """One layer's keys and values of several rows.

    Args:
        caches: the rows' caches of the layer, which hold keys already. They hold slices from here on.
        widths: tokens that each of them is to take next.

    Attributes:
        keys: [1, H, S, D].
        values: likewise.
    """

    def __init__(self, caches: Sequence[Any], widths: Sequence[int]) -> None:
        lengths, n_slots = _sizes(caches, widths)
        self.keys = _join([cache.keys for cache in caches], lengths, n_slots)
        self.values = _join([cache.values for cache in caches], lengths, n_slots)
        start = 0
        for cache, length in zip(caches, lengths, strict=True):
            cache.segment = _Segment(self, start, length, self.keys, self.values)
            start += length
            self._hand_out(cache)

    @classmethod
    def of(cls, caches: Sequence[Any], widths: Sequence[int]) -> FlatKeys | None:
        """Return the array that rows lie in, made anew unless it holds all of them; None where there is to be none.

        Args:
            caches: the rows' caches of a layer.
            widths: tokens that each of them is to take next.
        """
        if not all(type(cache) is RoundedKVCache and cache.keys is not None for cache in caches):
            return None
        segments: list[_Segment | None] = [cache.segment for cache in caches]
        held = segments[0].flat if segments[0] is not None else None
        rows = zip(segments, caches, widths, strict=True)
        if held is not None and all(own is not None and own.flat is held and own.fits(*row) for own, *row in rows):
            return held
        return cls(caches, widths) if _sizes(caches, widths)[1] <= MAX_SLOTS else None

    def slots(self, caches: Sequence[Any], widths: tuple[int, ...], n_filling: int) -> Slots:
        """Say what a pass of some of the rows does to the slots."""
        rows = tuple((cache.segment.start, cache.offset) for cache in caches)
        last = caches[-1].segment
        return Slots(rows, widths, n_filling, last.start + last.length - 1, self.keys.shape[2])

    def append(
        self, caches: Sequence[Any], slots: mx.array, widths: Sequence[int], keys: mx.array, values: mx.array
    ) -> None:
        """Write keys and values [1, H, T, D] into slots [T], and let the rows' caches hold them."""
        self.keys[:, :, slots] = keys
        self.values[:, :, slots] = values
        for cache, width in zip(caches, widths, strict=True):
            self._hand_out(cache)
            cache.offset += width

    def _hand_out(self, cache: Any) -> None:  # noqa: ANN401  # as above
        own = cache.segment
        rows = slice(own.start, own.start + own.length)
        own.keys = cache.keys = self.keys[:, :, rows]
        own.values = cache.values = self.values[:, :, rows]


def _sizes(caches: Sequence[Any], widths: Sequence[int]) -> tuple[list[int], int]:
    """Return the length of each row's segment, and of the array: a power of two steps, so that there are few shapes."""
    lengths = [cache.length_after(width + 1) for cache, width in zip(caches, widths, strict=True)]
    step = caches[0].kv_step
    return lengths, step * 2 ** (sum(lengths) // step - 1).bit_length()


def _join(parts: Sequence[mx.array], lengths: Sequence[int], n_slots: int) -> mx.array:
    """Put arrays [1, H, rows, D] behind one another, each cut or filled up to its length; zeros are behind them."""
    one = parts[0]
    pieces = []
    for part, length in zip(parts, lengths, strict=True):
        pieces.append(part[:, :, :length])
        if (missing := length - part.shape[2]) > 0:
            pieces.append(mx.zeros((*one.shape[:2], missing, one.shape[3]), one.dtype))
    pieces.append(mx.zeros((*one.shape[:2], n_slots - sum(lengths), one.shape[3]), one.dtype))
    return mx.concatenate(pieces, axis=2)
