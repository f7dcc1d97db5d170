"""`plgd bench --rpc`."""

from __future__ import annotations

import json
import re

import pytest

from cli.command import plgd
from cli.fake_daemon import FakeDaemon
from plgd.protocol.methods import PING


@pytest.mark.parametrize("count", [1, 20])
def test_round_trips_are_counted_and_ordered(count: int, daemon: FakeDaemon) -> None:
    """The benchmark makes as many round trips as asked, after one that warms up, and reports their spread."""
    times = json.loads(plgd("bench", "--rpc", "--count", str(count), "--json").stdout)
    assert count == times["n_requests"]
    assert 0 < times["p10_ms"] <= times["median_ms"] <= times["p90_ms"]
    for _ in range(count + 1):
        daemon.next_params(PING)
    assert daemon.asked.empty()


def test_times_are_said_in_one_line(daemon: FakeDaemon) -> None:
    """For a person the benchmark is one line."""
    done = plgd("bench", "--rpc", "--count", "10")
    assert re.fullmatch(
        rb"10 round trips on one connection: median [0-9.]+ ms, 10 % below [0-9.]+ ms, 10 % above [0-9.]+ ms\n",
        done.stdout,
    )
    daemon.next_params(PING)
