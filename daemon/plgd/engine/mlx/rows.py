"""Flat rows: tokens of several sequences behind one another in one pass, [1, T1 + T2 + ...].

What a network does token by token (embeddings, linear layers, norms, experts) it then does once for all. What looks
along a sequence is done row by row, on the sequence's own caches, by stand-ins for what mlx-lm's networks ask for:

`RowsCache` stands for a layer's cache. Its `offset` is a `RowOffsets`, what it fetches are `RowParts`, and the masks
that it makes are `RowMasks`. Whatever a network does with these but hand them on raises. What takes them apart is in
`plgd.engine.mlx.teaching`.

Nothing is padded or copied: each sequence keeps exactly the caches that it has alone. Only where lengths are rounded
anyway do the keys of all rows lie behind one another, too (`plgd.engine.mlx.flat_keys`): then a layer's cache fetches
`FlatParts`, and all rows attend at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Any, NoReturn

import mlx.core as mx
from mlx_lm.models.base import create_attention_mask
from mlx_lm.models.cache import CacheList

from plgd.engine.mlx.flat_keys import FlatKeys, Slots

__all__ = (
    "FlatParts",
    "Layout",
    "RowMasks",
    "RowOffsets",
    "RowParts",
    "RowsCache",
    "RowsCacheList",
    "join_caches",
    "layout_of",
    "of_row",
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the rows lie in a pass, and what all layers of the pass ask for alike.

    Attributes:
        widths: tokens of each row, in order.
        n_filling: tokens behind them that belong to nobody and make the pass a known width.
        made: see `once`.
    """

    widths: tuple[int, ...]
    n_filling: int = 0
    made: dict[Hashable, mx.array] = field(default_factory=dict, compare=False, repr=False)

    @property
    def total(self) -> int:
        """Tokens of the pass."""
        return sum(self.widths) + self.n_filling

    def once(self, name: Hashable, make: Callable[[], mx.array]) -> mx.array:
        """Return an array that the first layer makes and the others ask for by the same name."""
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def split(self, flat: mx.array, axis: int) -> list[mx.array]:
        """Return each row's part of an array that has the pass's tokens along an axis."""
        if flat.shape[axis] != self.total:
            raise ValueError(f"{flat.shape[axis]} tokens along axis {axis} are not a pass of {self.total}")
        return list(mx.split(flat, list(accumulate(self.widths)), axis=axis)[: len(self.widths)])

    def join(self, parts: Sequence[mx.array], axis: int) -> mx.array:
        """Put the rows' parts behind one another; zeros stand for the filling."""
        parts = list(parts)
        if self.n_filling:
            shape = list(parts[0].shape)
            shape[axis] = self.n_filling
            parts.append(mx.zeros(shape, parts[0].dtype))
        return mx.concatenate(parts, axis=axis)


class _Opaque:
    """Something that a network may hand on and nothing else: a network that compares it would go wrong in silence."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # as for everything that is not to be compared

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is of several rows and cannot be compared")

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is of several rows and is neither true nor false")


class RowOffsets(_Opaque):
    """The offset of each row."""

    __slots__ = ("layout", "offsets")

    def __init__(self, offsets: Sequence[int], layout: Layout) -> None:
        self.offsets = offsets
        self.layout = layout

    def places(self) -> mx.array:
        """Return the place of each token in its own sequence [T]; 0 for the filling."""
        return self.layout.once(("places", *self.offsets), self._find_places)

    def _find_places(self) -> mx.array:
        rows = zip(self.offsets, self.layout.widths, strict=True)
        places = [offset + place for offset, width in rows for place in range(width)]
        return mx.array([*places, *[0] * self.layout.n_filling], mx.int32)


class RowParts(_Opaque):
    """Keys or values of each row, [1, H, T, D] as its cache returned them."""

    __slots__ = ("caches", "layout", "parts")

    def __init__(self, parts: Sequence[Any], caches: Sequence[Any], layout: Layout) -> None:
        self.parts = parts
        self.caches = caches
        self.layout = layout


class FlatParts(_Opaque):
    """Keys or values of all rows in one array [1, H, S, D].

    Args:
        array: the array.
        slots: where the rows are in it; the pass's tokens are written.
        caches: each row's own cache of the layer.
        layout: where the rows lie.
    """

    __slots__ = ("array", "caches", "layout", "slots")

    def __init__(self, array: mx.array, slots: Slots, caches: Sequence[Any], layout: Layout) -> None:
        self.array = array
        self.slots = slots
        self.caches = caches
        self.layout = layout

    def mask(self, window_size: int | None) -> mx.array:
        """Return what each token sees [T, S]."""
        return self.layout.once(("seen", self.slots, window_size), partial(self.slots.seen, window_size))

    def part(self, row: int) -> mx.array:
        """Return what the row's own cache would have fetched."""
        (start, _), cache = self.slots.rows[row], self.caches[row]
        length = cache.offset if self.layout.widths[row] == 1 else cache.length_after(0)
        return self.array[:, :, start : start + length]


class RowMasks(_Opaque):
    """The mask of each row, and the window that all of them are of."""

    __slots__ = ("masks", "window_size")

    def __init__(self, masks: Sequence[Any], window_size: int | None = None) -> None:
        self.masks = masks
        self.window_size = window_size


class RowsCache:
    """One layer's cache of a joint pass.

    Args:
        caches: each row's own cache of the layer.
        layout: where the rows lie.
    """

    def __init__(self, caches: Sequence[Any], layout: Layout) -> None:
        self.caches = caches
        self.layout = layout

    @property
    def offset(self) -> RowOffsets:
        """Each row's tokens so far."""
        return RowOffsets([int(cache.offset) for cache in self.caches], self.layout)

    def update_and_fetch(
        self, keys: mx.array, values: mx.array
    ) -> tuple[RowParts, RowParts] | tuple[FlatParts, FlatParts]:
        """Give each row's cache its part of keys and values [1, H, T, D]."""
        layout = self.layout
        flat = FlatKeys.of(self.caches, layout.widths)
        if flat is not None:
            slots = flat.slots(self.caches, layout.widths, layout.n_filling)
            flat.append(self.caches, layout.once(slots, slots.written), layout.widths, keys, values)
            return FlatParts(flat.keys, slots, self.caches, layout), FlatParts(flat.values, slots, self.caches, layout)
        pairs = [
            cache.update_and_fetch(*new)
            for cache, *new in zip(self.caches, layout.split(keys, 2), layout.split(values, 2), strict=True)
        ]
        all_keys, all_values = ([pair[place] for pair in pairs] for place in (0, 1))
        return RowParts(all_keys, self.caches, layout), RowParts(all_values, self.caches, layout)

    def make_mask(self, N: int, **wanted: Any) -> RowMasks:  # noqa: N803, ANN401  # mlx-lm's names
        """Make each row's mask as mlx-lm would make it for the row alone."""
        if self.layout.total != N:
            raise ValueError(f"a mask for {N} tokens does not fit a pass of {self.layout.total}")
        return RowMasks(
            [
                cache.make_mask(n, **wanted)
                if hasattr(cache, "make_mask")
                else create_attention_mask(mx.zeros((1, n, 1)), **wanted)
                for cache, n in zip(self.caches, self.layout.widths, strict=True)
            ],
            wanted.get("window_size"),
        )


class RowsCacheList(CacheList):  # type: ignore[misc]  # mlx-lm has no annotations
    """One layer's list of caches.

    Args:
        lists: each row's own.
        layout: where the rows lie.
    """

    def __init__(self, lists: Sequence[CacheList], layout: Layout) -> None:
        super().__init__(*(_join_layer(inner, layout) for inner in zip(*(each.caches for each in lists), strict=True)))
        self.lists = lists
        self.layout = layout


def join_caches(rows: Sequence[list[Any]], layout: Layout) -> list[Any]:
    """Make the caches of a joint pass.

    Args:
        rows: each row's caches, one per layer.
        layout: where the rows lie.

    Returns:
        One per layer.
    """
    return [_join_layer(caches, layout) for caches in zip(*rows, strict=True)]


def _join_layer(caches: Sequence[Any], layout: Layout) -> object:
    if caches[0] is None:
        return None
    if isinstance(caches[0], CacheList):
        return RowsCacheList(caches, layout)
    return RowsCache(caches, layout)


def layout_of(values: Sequence[object]) -> Layout | None:
    """Return where rows lie, if one of the values is a cache of several."""
    return next((value.layout for value in values if isinstance(value, RowsCache | RowsCacheList)), None)


def of_row(value: object, row: int) -> object:
    """Return what a row has of something that is of several rows; anything else as it is."""
    match value:
        case RowsCache():
            return value.caches[row]
        case RowsCacheList():
            return value.lists[row]
        case RowMasks():
            return value.masks[row]
        case RowOffsets():
            return value.offsets[row]
        case RowParts():
            return value.parts[row]
        case FlatParts():
            return value.part(row)
    return value
