"""How many requests are under way, and what the daemon's end waits for."""

from __future__ import annotations

import anyio
import pytest

from plgd.errors import ShuttingDown
from plgd.server.lifecycle import Lifecycle

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
        await life.wait_quiet()
        order.append("quiet")

    async with anyio.create_task_group() as group:
        with life.request():
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            with life.request():
                order.append("second")
            order.append("first")
    assert ["second", "first", "quiet"] == order


async def test_a_failed_request_is_over_too() -> None:
    """A request that ends with an exception does not hold up the end."""
    life = Lifecycle()
    with pytest.raises(KeyError), life.request():
        raise KeyError
    with anyio.fail_after(1):
        await life.wait_quiet()


async def test_the_end_interrupts_what_can_be_resumed() -> None:
    """Work in threads hears of the end, and of its client's leaving."""
    life = Lifecycle()
    with life.interruptible() as left:
        assert not left.is_set()
    assert left.is_set()
    life.check_open()
    with life.interruptible() as stopped:
        life.request_stop()
        assert stopped.is_set()
    with pytest.raises(ShuttingDown):
        life.check_open()
