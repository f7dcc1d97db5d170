"""Keys of several rows in one array: every row sees its own and nothing else, whoever comes, goes or is rolled back."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mutations import Mutation, Noticed
from plgd.engine.mlx import flat_keys as flat_keys_module
from plgd.engine.mlx import rows as rows_module
from plgd.engine.mlx.flat_keys import FlatKeys, Slots
from plgd.engine.mlx.rollback import copy_state, restore_state
from plgd.engine.mlx.rows import FlatParts, Layout, RowParts, RowsCache, of_row
from plgd.engine.mlx.shapes import RoundedKVCache
from plgd.engine.mlx.spare_rows import cut_spare_rows

STEP = 8
N_HEADS = 2


@dataclass
class Row:
    """A sequence: its cache, and what the cache is to hold.

    Attributes:
        cache: of one layer.
        held: the number that each token's key is made of; its value is the negative.
    """

    cache: RoundedKVCache = field(default_factory=lambda: RoundedKVCache(STEP))
    held: list[int] = field(default_factory=list)

    def feed_alone(self, numbers: Sequence[int]) -> None:
        """Feed tokens in a pass of its own."""
        self.cache.update_and_fetch(keys_of(numbers), -keys_of(numbers))
        self.held += numbers

    def trim(self, n: int) -> None:
        """Drop the last tokens."""
        self.cache.trim(n)
        del self.held[len(self.held) - n :]

    def check(self) -> None:
        """See that the cache holds what it is to hold."""
        n = len(self.held)
        keys, values = self.cache.keys, self.cache.values
        assert keys is not None
        assert values is not None
        if (n, self.held, self.held) != (self.cache.offset, numbers_in(keys[:, :, :n]), numbers_in(-values[:, :, :n])):
            raise Noticed(self.held)


def keys_of(numbers: Sequence[int]) -> mx.array:
    """Make keys [1, H, T, 3] of numbers; the second head's are thousands more."""
    heads = mx.array([[[number + 1000 * head] * 3 for number in numbers] for head in range(N_HEADS)], mx.float32)
    return heads[None]


def numbers_in(keys: mx.array) -> list[int]:
    """Return the numbers that keys [1, H, T, D] were made of, if both heads agree."""
    numbers = np.array(keys)[0, :, :, 2]
    if not (numbers[0] + 1000 == numbers[1]).all():
        raise Noticed(numbers)
    return [int(number) for number in numbers[0]]


def feed_together(rows: Sequence[Row], fed: Sequence[Sequence[int]], n_filling: int, window: int | None = None) -> None:
    """Feed rows in one pass, and see that each token sees the tokens of its row up to itself, or the last of them."""
    layout = Layout(tuple(map(len, fed)), n_filling)
    joined = RowsCache([row.cache for row in rows], layout)
    flat = keys_of([number for numbers in fed for number in numbers] + [999] * n_filling)
    keys, values = joined.update_and_fetch(flat, -flat)
    assert isinstance(keys, FlatParts)
    assert isinstance(values, FlatParts)
    masks = [mx.array(np.flatnonzero(mask)) for mask in np.array(keys.mask(window))]
    for place, (row, numbers) in enumerate(zip(rows, fed, strict=True)):
        for number in numbers:
            row.held.append(number)
            seen = masks.pop(0)
            expected = row.held if window is None else row.held[-window:]
            for array in (keys.array, -values.array):
                if numbers_in(array[:, :, seen]) != expected:
                    raise Noticed((place, number))
        own = of_row(keys, place)
        assert isinstance(own, mx.array)
        if numbers_in(own[:, :, : len(row.held)]) != row.held:
            raise Noticed(place)
    if not all(mask.size for mask in masks):
        raise Noticed("what sees nothing becomes no number")


# What happens: the rows that a pass has, the tokens of each, how many of each are dropped then, what fills the pass up.
happenings = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(0, 3), st.integers(1, 11), st.integers(0, 11)), min_size=1, max_size=4),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=6,
)
Happenings = Sequence[tuple[Sequence[tuple[int, int, int]], int]]


def check_rows(happening: Happenings, window: int | None) -> None:
    """Let things happen to four rows, of which a pass of one is alone, and look at all of them each time."""
    rows = [Row() for _ in range(4)]
    for number, row in enumerate(rows):
        row.feed_alone([100 * number + place for place in range(1, 3 * number + 2)])
    number = 500
    for passes, n_filling in happening:
        fed: dict[int, tuple[list[int], int]] = {}
        for place, width, n_dropped in passes:
            number += width
            fed[place] = list(range(number - width, number)), n_dropped
        those = [rows[place] for place in fed]
        if len(fed) == 1:
            those[0].feed_alone(next(iter(fed.values()))[0])
        else:
            feed_together(those, [numbers for numbers, _ in fed.values()], n_filling, window)
        for row, (numbers, n_dropped) in zip(those, fed.values(), strict=True):
            row.trim(min(n_dropped, len(numbers)))
        for row in rows:
            row.check()


@settings(deadline=None, max_examples=60)
@given(happening=happenings, window=st.none() | st.integers(1, 12))
def test_rows_see_their_own(happening: Happenings, window: int | None) -> None:
    """Passes together and alone, of all or of some rows, with drops in between: every token sees what it has to."""
    check_rows(happening, window)


# All rows, some of them, one alone, all again; with drops, filling and growth past a step. In the first pass the last
# row's tokens end with a step.
MUCH: Happenings = [
    ([(0, 3, 1), (1, 2, 2), (2, 1, 0), (3, 6, 0)], 2),
    ([(1, 2, 0), (3, 1, 0)], 1),
    ([(2, 2, 0)], 0),
    ([(0, 5, 0), (1, 5, 1), (2, 2, 0), (3, 2, 0)], 0),
    ([(3, 9, 3), (2, 7, 0)], 3),
    ([(0, 1, 0), (1, 1, 0), (2, 1, 0), (3, 1, 0)], 0),
]

MUTATIONS = [
    Mutation(Slots, Slots.written, "start + offset + place", "offset + place"),
    Mutation(Slots, Slots.written, "self.spare", "0"),
    Mutation(Slots, Slots.seen, "slots >= first[:, None]", "slots >= 0"),
    Mutation(Slots, Slots.seen, "slots <= last", "slots < last"),
    Mutation(Slots, Slots.seen, "window_size - 1", "window_size"),
    Mutation(FlatKeys, FlatKeys.append, "cache.offset += width", "cache.offset += 1"),
    Mutation(FlatKeys, FlatKeys._hand_out, "own.start + own.length", "own.length"),
    Mutation(flat_keys_module, flat_keys_module._sizes, "length_after(width + 1)", "length_after(width)"),
    Mutation(flat_keys_module, flat_keys_module._join, "part[:, :, :length]", "part[:, :, :length] * 0"),
    Mutation(FlatParts, FlatParts.part, "start : start + length", ":length"),
    Mutation(rows_module.Layout, rows_module.Layout.once, "if name not in self.made:", "if not self.made:"),
]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: f"{m.function.__name__}: {m.new}")
def test_a_defect_is_noticed(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect shows in what some row holds or sees."""
    mutation.apply(monkeypatch)
    with pytest.raises((Noticed, AssertionError, KeyError, ValueError, IndexError)):
        check_rows(MUCH, 3)


def test_the_intact_code_passes() -> None:
    """Without a defect, nothing is noticed."""
    check_rows(MUCH, 3)
    check_rows(MUCH, None)


def make_rows(n: int) -> list[Row]:
    """Make rows of a few tokens each."""
    rows = [Row() for _ in range(n)]
    for place, row in enumerate(rows):
        row.feed_alone([10 * place + 1, 10 * place + 2])
    return rows


def test_nothing_is_copied_from_pass_to_pass() -> None:
    """Rows stay in one array as long as no pass of their own comes between, also when a pass is of some of them."""
    rows = make_rows(3)
    flat = FlatKeys.of([row.cache for row in rows], [1, 1, 1])
    feed_together(rows, [[5], [6], [7]], 0)
    feed_together(rows[1:], [[8], [9]], 0)
    assert flat is FlatKeys.of([row.cache for row in rows], [1, 1, 1])
    rows[0].feed_alone([3])
    assert flat is not FlatKeys.of([row.cache for row in rows], [1, 1, 1])


def test_what_was_put_into_a_cache_is_not_lost() -> None:
    """A cache that was given other keys, such as those of a restored state, is put into an array anew."""
    rows = make_rows(2)
    feed_together(rows, [[5], [6]], 0)
    restore_state(rows[0].cache, copy_state(rows[1].cache))
    rows[0].held = list(rows[1].held)
    feed_together(rows, [[7], [8]], 0)
    for row in rows:
        row.check()


def test_rows_that_are_kept_hold_on_to_nobody_elses() -> None:
    """The array goes when its rows have gone, also when one of them is kept for the next edit."""
    rows = make_rows(3)
    feed_together(rows, [[5], [6], [7]], 0)
    flat = weakref.ref(rows[0].cache.segment.flat)
    kept = rows.pop(0)
    cut_spare_rows([kept.cache])
    assert kept.cache.segment is None
    kept.check()
    del rows
    gc.collect()
    assert flat() is None


def test_very_long_rows_keep_to_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past so many slots each row attends by itself."""
    rows = make_rows(2)
    monkeypatch.setattr(flat_keys_module, "MAX_SLOTS", STEP)
    joined = RowsCache([row.cache for row in rows], Layout((1, 1)))
    parts = joined.update_and_fetch(keys_of([1, 2]), keys_of([1, 2]))
    assert all(isinstance(part, RowParts) for part in parts)
