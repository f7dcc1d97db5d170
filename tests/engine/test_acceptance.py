"""Acceptance keeps the longest agreeing prefix."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.engine.acceptance import count_accepted


@pytest.mark.parametrize(
    ("draft", "choices", "n_accepted"),
    [
        ([], [5], 0),
        ([1, 2], [1, 2, 3], 2),
        ([1, 2], [1, 9, 3], 1),
        ([1, 2], [9, 2, 3], 0),  # agreement behind a miss counts for nothing
    ],
)
def test_the_agreeing_prefix_counts(draft: list[int], choices: list[int], n_accepted: int) -> None:
    """A drafted token is kept iff it equals the target's choice and all before it do (references A1, A2)."""
    assert n_accepted == count_accepted(draft, choices)


@given(st.lists(st.integers(0, 2), max_size=10), st.lists(st.integers(0, 2), max_size=12))
def test_acceptance_is_the_common_prefix(draft: list[int], choices: list[int]) -> None:
    """Draft and choices agree on what is accepted and differ right after it (reference A2)."""
    if len(choices) != len(draft) + 1:
        with pytest.raises(ValueError, match=f"need {len(draft) + 1} choices, the target made {len(choices)}"):
            count_accepted(draft, choices)
        return
    n = count_accepted(draft, choices)
    assert draft[:n] == choices[:n]
    assert n == len(draft) or draft[n] != choices[n]
