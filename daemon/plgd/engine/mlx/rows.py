"""Flat rows: tokens of several sequences behind one another in one pass, [1, T1 + T2 + ...].

What a network does token by token (embeddings, linear layers, norms, experts) it then does once for all. What looks
along a sequence is done row by row, on the sequence's own caches, by stand-ins for what mlx-lm's networks ask for:

- `RowsCache` stands for a layer's cache. Its `offset` is a `RowOffsets`, what it fetches are `RowParts`, and the masks
  that it makes are `RowMasks`. Whatever a network does with these but hand them on raises.
- Modules that take an offset, which are rotary embeddings, are taught to turn each row by its own.
- `scaled_dot_product_attention`, where a network's module imported it, is taught to attend row by row.

Nothing is padded or copied: each sequence keeps exactly the caches that it has alone.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, NoReturn

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.base import create_attention_mask
from mlx_lm.models.cache import CacheList
from mlx_lm.models.rope_utils import Llama3RoPE, ProportionalRoPE, SuScaledRoPE, YarnRoPE

__all__ = ("Layout", "RowsCache", "join_caches", "layout_of", "of_row", "teach")

ATTENTION: Final = "scaled_dot_product_attention"

# They only hand their offset to mlx's kernel, which takes one for each of several sequences. A pass in which each token
# is a sequence of its own is turned at once, and bit for bit as row by row; on a CPU that is a quarter of the time.
TURNS_BY_TOKEN: Final = (nn.RoPE, Llama3RoPE, ProportionalRoPE, SuScaledRoPE, YarnRoPE)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the rows lie in a pass.

    Attributes:
        widths: tokens of each row, in order.
        n_filling: tokens behind them that belong to nobody and make the pass a known width.
    """

    widths: tuple[int, ...]
    n_filling: int = 0

    @property
    def total(self) -> int:
        """Tokens of the pass."""
        return sum(self.widths) + self.n_filling

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


class RowMasks(_Opaque):
    """The mask of each row."""

    __slots__ = ("masks",)

    def __init__(self, masks: Sequence[Any]) -> None:
        self.masks = masks


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

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[RowParts, RowParts]:
        """Give each row's cache its part of keys and values [1, H, T, D]."""
        layout = self.layout
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
            ]
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
    return value


def teach(network: nn.Module) -> None:
    """Teach a network's parts that look along the sequence to do so row by row; a pass of one sequence stays as it is.

    Modules are taught by giving them a subclass of their class, and attention by replacing mlx-lm's function in the
    Python modules that the network's classes come from.
    """
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

    def call(self: nn.Module, flat: mx.array, *args: Any, **kwargs: Any) -> mx.array:  # noqa: ANN401  # as the class
        everything = [*args, *kwargs.values()]
        offsets = next((value for value in everything if isinstance(value, RowOffsets)), None)
        turn = kind.__call__
        if offsets is None:
            turned: mx.array = turn(self, flat, *args, **kwargs)
            return turned

        def turned_by(part: mx.array, offset: int | mx.array) -> mx.array:
            given = [offset if value is offsets else value for value in args]
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

    def attend(
        queries: mx.array,
        keys: Any,  # noqa: ANN401  # arrays, quantized triples or parts
        values: Any,  # noqa: ANN401
        cache: Any,  # noqa: ANN401
        scale: float,
        mask: Any,  # noqa: ANN401
        **others: Any,  # noqa: ANN401
    ) -> mx.array:
        if not isinstance(keys, RowParts):
            return original(queries, keys, values, cache=cache, scale=scale, mask=mask, **others)
        layout = keys.layout
        if not isinstance(mask, RowMasks | None):
            raise TypeError("the network made a mask of its own, which knows nothing of rows")
        masks = [None] * len(layout.widths) if mask is None else mask.masks
        rows = zip(layout.split(queries, 2), keys.parts, values.parts, keys.caches, masks, strict=True)
        return layout.join(
            [original(q, k, v, cache=own, scale=scale, mask=m, **others) for q, k, v, own, m in rows], axis=2
        )

    attend.plgd_original = original  # type: ignore[attr-defined]  # says that it has been taught
    return attend
