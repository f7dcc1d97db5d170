"""`plgd bench --lsp`."""

from __future__ import annotations

import pytest

from lsp.talking import Talker, talking_daemon
from plgd.paths import Paths
from plgd_lsp.bench import measure, say

pytestmark = pytest.mark.anyio


async def test_every_way_is_timed(paths: Paths) -> None:
    """The benchmark starts a server, times each kind of request on it, and says so in four lines."""
    talker = Talker()
    talker.reply = "def surface(width, height):\n    return width * height\n"
    async with talking_daemon(paths, talker):
        times = await measure(20)
    assert 20 == times.n_requests
    assert 0 < times.action_ms <= times.action_p99_ms
    assert min(times.raw_ms, times.lsp_ms, times.edit_overhead_ms, times.change_ms) > 0
    assert 4 == len(say(times).splitlines())
