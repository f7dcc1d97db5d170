"""Rollback over caches: exact where they drop their tails, restored where they cannot, and never on trust."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.models.cache import (
    ArraysCache,
    CacheList,
    ChunkedKVCache,
    ConcatenateKVCache,
    KVCache,
    QuantizedKVCache,
    RotatingKVCache,
)

from plgd.engine.mlx.rollback import CacheRollback
from plgd.engine.mlx.target import MAX_REPLAY, MlxTarget
from plgd.errors import RollbackFailed
from replies import drafted_reply, plain_reply
from tiny_configs import make_config
from tiny_models import make_network


def feed(cache: Any, start: int, n: int) -> None:  # noqa: ANN401  # mlx-lm's caches share no type
    """Append rows that hold their own positions."""
    rows = mx.broadcast_to(mx.arange(start, start + n, dtype=mx.float32)[None, None, :, None], (1, 1, n, 64))
    cache.update_and_fetch(rows, rows)


def positions(cache: Any) -> list[int]:  # noqa: ANN401
    """Read the positions of the rows that attention would get, after one more row."""
    feed(cache, 99, 1)
    keys, _ = cache.keys_and_values()
    return sorted(int(position) for position in keys[0, 0, :, 0].tolist())


@pytest.mark.parametrize("make", [KVCache, lambda: ChunkedKVCache(64), lambda: RotatingKVCache(64)])
def test_rows_are_dropped(make: Any) -> None:  # noqa: ANN401
    """A cache of rows drops the tail of a block and holds what it held before it, and the kept tokens."""
    cache = make()
    feed(cache, 0, 10)
    rollback = CacheRollback([cache])
    rollback.begin(6)
    feed(cache, 10, 6)
    assert 2 == rollback.keep(2)
    assert [*range(12), 99] == positions(cache)


def test_fewer_may_be_kept_afterwards() -> None:
    """After some of a block was kept, fewer of it may be."""
    cache = KVCache()
    feed(cache, 0, 10)
    rollback = CacheRollback([cache])
    rollback.begin(6)
    feed(cache, 10, 6)
    rollback.keep(5)
    assert 1 == rollback.keep(1)
    assert 11 == cache.offset


def test_quantized_rows_are_dropped() -> None:
    """A quantized cache drops the tail of a block."""
    cache = QuantizedKVCache(group_size=64, bits=8)
    feed(cache, 0, 10)
    rollback = CacheRollback([cache])
    rollback.begin(6)
    feed(cache, 10, 6)
    assert 3 == rollback.keep(3)
    assert 13 == cache.offset


@pytest.mark.parametrize("n_before", [8, 10, 15, 16, 40])
def test_a_full_window_is_restored(n_before: int) -> None:
    """A window that the block fills or that is full goes back to before the block, rows and all."""
    cache, untouched = RotatingKVCache(16), RotatingKVCache(16)
    for each in (cache, untouched):
        for position in range(n_before):
            feed(each, position, 1)
    rollback = CacheRollback([cache])
    rollback.begin(8)
    feed(cache, n_before, 8)
    assert 0 == rollback.keep(3)
    assert positions(untouched) == positions(cache)


def test_a_cache_whose_trim_drops_nothing_is_restored() -> None:
    """mlx-lm's concatenating cache only says that it dropped rows; it goes back by snapshot."""
    cache = ConcatenateKVCache()
    feed(cache, 0, 10)
    rollback = CacheRollback([cache])
    rollback.begin(6)
    feed(cache, 10, 6)
    assert 0 == rollback.keep(2)
    assert [*range(10), 99] == positions(cache)


def test_a_window_with_room_drops_its_tail() -> None:
    """As long as the block leaves the window unfilled, rows are dropped and nothing is fed again."""
    cache = RotatingKVCache(16)
    feed(cache, 0, 7)
    rollback = CacheRollback([cache])
    rollback.begin(8)
    feed(cache, 7, 8)
    assert 3 == rollback.keep(3)
    assert [*range(10), 99] == positions(cache)


def test_states_are_restored_with_their_rows() -> None:
    """In a list of rows and states all go back together, however deep they stand."""
    rows, state = KVCache(), ArraysCache(2)
    caches = [KVCache(), CacheList(rows, CacheList(state))]
    for cache in (caches[0], rows):
        feed(cache, 0, 5)
    state[0] = mx.array([1.0])
    rollback = CacheRollback(caches)
    rollback.begin(4)
    for cache in (caches[0], rows):
        feed(cache, 5, 4)
    state[0] += 1.0
    state[1] = mx.array([7.0])
    assert 0 == rollback.keep(2)
    assert (5, 5) == (caches[0].offset, rows.offset)
    assert ([1.0], None) == (state[0].tolist(), state[1])


def test_a_snapshot_does_not_follow_writes() -> None:
    """What is written into an array after the snapshot is not in it."""
    state = ArraysCache(1)
    state[0] = mx.zeros(3)
    rollback = CacheRollback([state])
    rollback.begin(2)
    state[0][1] = 5.0
    rollback.keep(1)
    assert [0.0, 0.0, 0.0] == state[0].tolist()


def test_caches_that_stand_still_are_left_alone() -> None:
    """A cache that a model does not fill has nothing to drop."""
    used, unused = KVCache(), KVCache()
    feed(used, 0, 5)
    rollback = CacheRollback([used, unused])
    rollback.begin(3)
    feed(used, 5, 3)
    assert 1 == rollback.keep(1)
    assert (6, 0) == (used.offset, unused.offset)


def test_odd_growth_goes_back_to_the_start() -> None:
    """A cache that grew by another number than was fed goes back to before the block, and all others with it."""
    pooled, rows = KVCache(), KVCache()
    feed(rows, 0, 8)
    feed(pooled, 0, 2)
    rollback = CacheRollback([rows, pooled])
    rollback.begin(8)
    feed(rows, 8, 8)
    feed(pooled, 2, 2)
    assert 0 == rollback.keep(5)
    assert (8, 2) == (rows.offset, pooled.offset)


@pytest.mark.parametrize("extra", [-1, 1])
def test_a_drop_is_counted(extra: int) -> None:
    """A cache that drops too little or too much is found out, whatever it says."""

    class Liar(KVCache):  # type: ignore[misc]  # mlx-lm has no annotations
        def trim(self, n: int) -> int:
            super().trim(n + extra)
            return n

    cache = Liar()
    feed(cache, 0, 5)
    rollback = CacheRollback([KVCache(), cache])
    rollback.begin(4)
    feed(cache, 5, 4)
    with pytest.raises(RollbackFailed, match=rf"Rollback of 3 tokens dropped {3 + extra} in Liar of layer 1"):
        rollback.keep(1)


@pytest.mark.parametrize(
    ("caches", "where"),
    [
        ([KVCache(), QuantizedKVCache()], ""),
        ([KVCache(), RotatingKVCache(4)], "RotatingKVCache of layer 1"),
        ([CacheList(KVCache(), ArraysCache(1)), RotatingKVCache(4)], "ArraysCache of layer 0"),
        ([], ""),
    ],
)
def test_method_names_the_cache_that_decides(caches: list[Any], where: str) -> None:
    """The method says which cache needs the snapshot, if any (reference A12)."""
    method = CacheRollback(caches).method(4)
    assert (bool(where), where) == (method.by_snapshot, method.where)


@pytest.fixture
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


@pytest.mark.usefixtures("uncompiled")
def test_replays_stay_short() -> None:
    """Miss after miss, what has to be fed again rides in the next block, and is settled before it grows long."""
    network = make_network(make_config("mamba2"))
    widths: list[int] = []

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        widths.append(tokens.shape[1])
        logits: mx.array = network(tokens, cache=caches)
        return logits

    def start() -> MlxTarget:
        target = MlxTarget(forward, network.make_cache(), context_limit=512)
        target.prefill([1, 2, 3])
        return target

    reply = plain_reply(start(), 150)
    widths.clear()
    target = start()

    def half_right(done: list[int]) -> list[int]:
        return [*reply[len(done) : len(done) + 5], 255, 255]

    assert reply == drafted_reply(target, 150, half_right)
    assert MAX_REPLAY + 8 >= max(widths) > MAX_REPLAY
    assert target.counts.n_replayed > 100
