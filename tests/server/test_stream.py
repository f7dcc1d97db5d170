"""Bytes over a connected socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing

import anyio
import anyio.lowlevel
import pytest

from plgd.stream import Stream
from server.machine import PATIENCE_S

pytestmark = pytest.mark.anyio


@pytest.fixture
def ends() -> Iterator[tuple[Stream, Stream]]:
    """Two connected streams."""
    ours, theirs = (Stream(end) for end in socket.socketpair())
    with closing(ours), closing(theirs):
        yield ours, theirs


async def test_bytes_arrive_in_order_whoever_is_late(ends: tuple[Stream, Stream]) -> None:
    """The reader may wait before the bytes come or come when they have long been there."""
    ours, theirs = ends
    async with anyio.create_task_group() as group:
        got: list[bytes] = []

        async def read_first() -> None:
            got.append(await theirs.receive(100))

        group.start_soon(read_first)
        await anyio.wait_all_tasks_blocked()
        await ours.send(b"first")
    await ours.send(b"second")
    await anyio.wait_all_tasks_blocked()
    assert await theirs.receive(3) == b"sec"
    assert await theirs.receive(100) == b"ond"
    assert got == [b"first"]


async def test_a_cancelled_reader_loses_nothing(ends: tuple[Stream, Stream]) -> None:
    """Bytes that arrive in the moment of a cancel are the next reader's, unless the cancelled one had them."""
    ours, theirs = ends
    got: list[bytes] = []

    async def read() -> None:
        got.append(await theirs.receive(100))

    reader = asyncio.ensure_future(read())
    await anyio.wait_all_tasks_blocked()
    assert ours.send_now(b"kept") == 4
    theirs._read()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert got == []
    with anyio.fail_after(PATIENCE_S):
        assert await theirs.receive(100) == b"kept"
    ours.close()
    with pytest.raises(anyio.EndOfStream):
        await theirs.receive(100)


async def test_bytes_that_nobody_reads_keep_the_loop_idle(ends: tuple[Stream, Stream]) -> None:
    """The loop does not go round and round while a client sends and the daemon does not read."""
    ours, theirs = ends
    with anyio.move_on_after(0.0):
        await theirs.receive(100)
    await ours.send(b"x" * 1000)
    await anyio.wait_all_tasks_blocked()
    await anyio.lowlevel.checkpoint()
    assert theirs._loop is None
    assert await theirs.receive(1000) == b"x" * 1000


async def test_two_readers_are_one_too_many(ends: tuple[Stream, Stream]) -> None:
    """The second is told; the first goes on."""
    ours, theirs = ends
    async with anyio.create_task_group() as group:
        group.start_soon(theirs.receive, 100)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(anyio.BusyResourceError):
            await theirs.receive(100)
        await ours.send(b"x")


async def test_a_peer_that_sends_without_pause_leaves_others_their_turn(ends: tuple[Stream, Stream]) -> None:
    """Each receive lets the loop do what else there is to do."""
    ours, theirs = ends
    await ours.send(b"x" * 1000)
    turns: list[int] = []

    async def others() -> None:
        while True:
            turns.append(len(turns))
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(others)
        for _ in range(100):
            await theirs.receive(10)
        group.cancel_scope.cancel()
    assert len(turns) >= 100


async def test_what_the_kernel_does_not_take_is_said(ends: tuple[Stream, Stream]) -> None:
    """Sending at once never waits: to a reader that is slow or gone it sends a part, or nothing."""
    ours, theirs = ends
    n_sent = ours.send_now(b"x" * 50_000_000)
    assert 0 < n_sent < 50_000_000
    assert ours.send_now(b"x" * 50_000_000) == 0
    theirs.close()
    assert ours.send_now(b"x") == 0
