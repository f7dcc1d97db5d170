"""How many requests are under way, and what the daemon's end waits for."""

from __future__ import annotations

import anyio
import pytest

from plgd.errors import ShuttingDown
from plgd.server.lifecycle import Lifecycle
from server.machine import PATIENCE_S

pytestmark = pytest.mark.anyio


async def test_a_daemon_with_work_is_not_idle() -> None:
    """However long a request takes, the time without requests begins after it."""
    life = Lifecycle()
    assert life.idle_s > 0.0
    with life.request():
        assert life.idle_s == 0.0
        with life.request():
            pass
        assert life.idle_s == 0.0
    assert life.idle_s > 0.0


async def test_quiet_comes_when_the_last_request_is_answered() -> None:
    """The end waits for every request, also for those that begin while it waits."""
    life = Lifecycle()
    order: list[str] = []

    async def wait() -> None:
        assert await life.wait_quiet(hurry_s=PATIENCE_S)
        order.append("quiet")

    async with anyio.create_task_group() as group:
        with life.request():
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            with life.request():
                order.append("second")
            order.append("first")
    assert ["second", "first", "quiet"] == order


async def test_the_end_in_a_hurry_waits_only_so_long() -> None:
    """A request that does not end holds up a draining daemon, but not one that is to exit at once."""
    life = Lifecycle()
    outcomes: list[bool] = []

    async def wait() -> None:
        outcomes.append(await life.wait_quiet(hurry_s=0.0))

    with life.request():
        async with anyio.create_task_group() as group:
            life.request_stop(drain=True)
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            assert outcomes == []
            life.request_stop(drain=False)
        assert [False] == outcomes


async def test_a_failed_request_is_over_too() -> None:
    """A request that ends with an exception does not hold up the end."""
    life = Lifecycle()
    with pytest.raises(KeyError), life.request():
        raise KeyError
    with anyio.fail_after(1):
        assert await life.wait_quiet(hurry_s=PATIENCE_S)


async def test_the_end_interrupts_what_can_be_resumed() -> None:
    """Work in threads hears of the end, and of its client's leaving."""
    life = Lifecycle()
    with life.interruptible() as left:
        assert not left.is_set()
    assert left.is_set()
    life.check_open()
    with life.interruptible() as stopped:
        life.request_stop(drain=True)
        assert stopped.is_set()
    with pytest.raises(ShuttingDown):
        life.check_open()
