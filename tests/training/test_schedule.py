"""The learning rate follows the clock."""

from __future__ import annotations

import pytest

from training.schedule import WARM_UP_STEPS, Schedule


def test_a_run_ends_when_its_time_is_over() -> None:
    """Progress is the share of the time that is spent, from the first step to the end."""
    schedule = Schedule(1.0, begins_at=10.0, ends_at=30.0)
    assert (0.0, 0.5, 1.0) == (schedule.progress(10.0), schedule.progress(20.0), schedule.progress(30.0))


def test_no_time_at_all_is_over_at_once() -> None:
    """A run whose end lies before its beginning makes no step."""
    assert Schedule(1.0, begins_at=10.0, ends_at=5.0).progress(10.1) >= 1.0


def test_the_rate_is_a_cosine_behind_a_warm_up() -> None:
    """The rate rises with the first steps and falls to zero with the time."""
    schedule = Schedule(2.0, 0.0, 1.0)
    assert [2.0, 1.0, 0.0] == [pytest.approx(schedule.rate(share, WARM_UP_STEPS)) for share in (0.0, 0.5, 1.0)]
    assert pytest.approx(1.0) == schedule.rate(0.0, WARM_UP_STEPS // 2 - 1)


def test_two_runs_share_one_cosine() -> None:
    """The second part begins at the rate where the first one ended."""
    first, second = (Schedule(2.0, 0.0, 1.0, (number, 2)) for number in (1, 2))
    assert pytest.approx(first.rate(1.0, 1000)) == second.rate(0.0, 1000) == pytest.approx(1.0)
    assert pytest.approx(0.0) == second.rate(1.0, 1000)
