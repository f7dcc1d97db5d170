"""The bound is the cheapest way to copy what is copied, and a plain round for each other token."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.bench.replay.bound import bound_ms, can_be_aligned, copied_runs
from plgd.engine.cost import StepCosts


def table(*costs: float) -> StepCosts:
    """Make a table of the widths 1, 2, 3 ..."""
    widths = tuple(range(1, len(costs) + 1))
    return StepCosts(widths, (0,), (costs,), costs[:1], max_width=len(costs))


def test_runs_are_the_longest_matching_blocks() -> None:
    """A replaced token parts a text into two runs; a text with nothing of its source has none."""
    assert [3, 2] == copied_runs([1, 2, 3, 4, 5, 6], [1, 2, 3, 9, 5, 6])
    assert [] == copied_runs([1, 2], [3, 4])


def test_what_repeats_without_end_is_aligned_at_its_ends() -> None:
    """A line of a megabyte of one word is no reason to wait: only what the texts begin and end with alike is copied."""
    source = [7] * 250_000
    reply = [7] * 100_000 + [8] + [7] * 149_000
    assert not can_be_aligned(source, reply)
    assert [100_000, 149_000] == copied_runs(source, reply)
    assert [250_000] == copied_runs(source, source)


@pytest.mark.parametrize(
    ("runs", "n_reply", "expected"),
    [
        pytest.param([], 5, 5.0, id="nothing copied"),
        pytest.param([3], 3, 1.5, id="one round of three"),
        pytest.param([2], 2, 1.5, id="a wider round is cheaper than the fitting one"),
        pytest.param([4], 4, 2.5, id="a round of three and a plain one"),
        pytest.param([3, 3], 8, 5.0, id="two runs and two new tokens"),
    ],
)
def test_each_run_is_copied_in_the_cheapest_widths(runs: list[int], n_reply: int, expected: float) -> None:
    """Widths may be wider than what is left of a run where that is cheaper."""
    assert expected == bound_ms(runs, n_reply, table(1.0, 1.8, 1.5), 0)


@given(length=st.integers(1, 5), costs=st.lists(st.floats(0.5, 5.0), min_size=1, max_size=3).map(lambda c: [1.0, *c]))
def test_no_way_to_copy_a_run_is_cheaper(length: int, costs: list[float]) -> None:
    """The bound of a run equals the best of all sequences of widths that cover it."""
    best = min(
        sum(costs[width - 1] for width in widths)
        for n_rounds in range(1, length + 1)
        for widths in product(range(1, len(costs) + 1), repeat=n_rounds)
        if sum(widths) >= length
    )
    assert best == pytest.approx(bound_ms([length], length, table(*costs), 0))
