"""How busy other programs keep the processors."""

from __future__ import annotations

import os

import pytest

from plgd.engine.mlx.neighbours import Neighbours
from plgd.engine.mlx.threads import CpuTimes


@pytest.mark.parametrize(
    ("busy_s", "own_s", "share"), [(8.0, 8.0, 0.0), (10.0, 8.0, 0.25), (8.0, 0.0, 1.0), (7.9, 8.0, 0.0)]
)
def test_a_programs_own_time_is_not_the_others(busy_s: float, own_s: float, share: float) -> None:
    """Of what two processors did in four seconds, what plgd itself did does not count."""
    times = iter((CpuTimes(10.0, 100.0, 50.0, 2), CpuTimes(14.0, 100.0 + busy_s, 50.0 + own_s, 2)))
    assert share == Neighbours(lambda: next(times)).share()


def test_the_load_is_that_of_the_minute_before() -> None:
    """Where processor times are not told, the load counts that stood before anything was timed."""
    loads = iter((1.5, 99.0))
    neighbours = Neighbours(None, lambda: next(loads))
    assert neighbours.share() == 1.5 / (os.cpu_count() or 1)
