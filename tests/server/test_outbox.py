"""What waits for a client, within a bound."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import anyio
import pytest

from plgd.server.outbox import Outbox
from plgd.stream import Stream

pytestmark = pytest.mark.anyio


@pytest.fixture
def ends() -> Iterator[tuple[Stream, Stream]]:
    """Two connected streams."""
    ours, theirs = (Stream(end) for end in socket.socketpair())
    with closing(ours), closing(theirs):
        yield ours, theirs


async def test_a_client_that_reads_may_get_any_amount(ends: tuple[Stream, Stream]) -> None:
    """The bound is on what waits, not on what was sent in all."""
    ours, theirs = ends
    outbox = Outbox(10)
    async with anyio.create_task_group() as group:
        group.start_soon(outbox.send_to, ours)
        for n in range(20):
            line = b"line %d\n" % n
            outbox.put(line)
            assert line == await theirs.receive(100)
            await anyio.wait_all_tasks_blocked()
        outbox.close()
    assert not outbox.overflowed


async def test_too_much_that_waits_is_an_overflow() -> None:
    """A line that does not fit beside those that wait is the end; one alone may be longer than the bound."""
    outbox = Outbox(10)
    outbox.put(b"x" * 50)
    assert not outbox.overflowed
    outbox.put(b"y")
    assert outbox.overflowed


async def test_what_waits_is_sent_before_the_close(ends: tuple[Stream, Stream]) -> None:
    """Closing keeps the answers that are there and takes no more."""
    ours, theirs = ends
    outbox = Outbox(100)
    outbox.put(b"a\n")
    outbox.put(b"b\n")
    outbox.close()
    outbox.put(b"c\n")
    await outbox.send_to(ours)
    ours.socket.shutdown(socket.SHUT_WR)
    assert await theirs.receive(100) == b"a\nb\n"
    with pytest.raises(anyio.EndOfStream):
        await theirs.receive(100)


async def test_a_client_that_is_gone_ends_the_sending(ends: tuple[Stream, Stream]) -> None:
    """Sending to nobody is an error of the connection."""
    ours, theirs = ends
    theirs.close()
    outbox = Outbox(100)
    outbox.put(b"a\n")
    with pytest.raises(anyio.BrokenResourceError):
        await outbox.send_to(ours)


async def test_a_line_goes_out_in_the_call_that_puts_it(ends: tuple[Stream, Stream]) -> None:
    """While nothing waits, no task has to wake up for an answer."""
    ours, theirs = ends
    outbox = Outbox(100)
    async with anyio.create_task_group() as group:
        group.start_soon(outbox.send_to, ours)
        await anyio.wait_all_tasks_blocked()
        outbox.put(b"now\n")
        assert theirs.socket.recv(100) == b"now\n"
        outbox.close()


async def test_lines_stay_in_order_when_the_kernel_takes_a_part(ends: tuple[Stream, Stream]) -> None:
    """What is left of a line goes before the lines that come after it."""
    ours, theirs = ends
    lines = [b"%d" % digit * 3_000_000 + b"\n" for digit in range(3)]
    outbox = Outbox(20_000_000)
    got = b""
    async with anyio.create_task_group() as group:
        group.start_soon(outbox.send_to, ours)
        await anyio.wait_all_tasks_blocked()
        for line in lines:
            outbox.put(line)
        outbox.close()
        while len(got) < sum(map(len, lines)):
            got += await theirs.receive(1_000_000)
    assert b"".join(lines) == got
