"""The graded policy follows its reference, constants and all."""

from __future__ import annotations

import pytest

from plgd.engine.graded import GradedGovernor
from plgd.engine.proposer import NO_DRAFT, Draft
from plgd.engine.types import Outcome


def drafted(n_drafted: int, n_accepted: int) -> Outcome:
    """Make a drafted round."""
    tokens = tuple(range(n_drafted))
    draft = Draft(tokens, "ngram", 3)
    return Outcome(draft, n_drafted, n_accepted, (*tokens[:n_accepted], 99), 100, False, False, None)


PLAIN = Outcome(NO_DRAFT, 0, 0, (99,), 100, False, False, None)


@pytest.mark.parametrize(
    ("accepted", "limits"),
    [
        ([], [7]),
        ([7, 7], [7, 7, 7]),  # mean 7
        ([1, 1, 1, 1], [7, 7, 7, 6, 5]),  # means 4, 2.5, 1.75, 1.375: 10, 7, round(3.5) + 2, round(2.75) + 2
        ([3, 0, 3, 0], [7, 7, 7, 7, 5]),  # means 5, 2.5, 2.75, 1.375
    ],
)
def test_the_draft_is_twice_the_mean_plus_two(accepted: list[int], limits: list[int]) -> None:
    """The budget is round(2 mean) + 2, the mean halving its memory each drafted round (reference A5)."""
    governor = GradedGovernor(7)
    seen = [governor.limit()]
    for n_accepted in accepted:
        governor.observe(drafted(7, n_accepted))
        seen.append(governor.limit())
    assert limits == seen


def miss_until_paused(governor: GradedGovernor) -> int:
    """Land nothing until the governor pauses; return the number of misses."""
    n_misses = 0
    while governor.limit():
        governor.observe(drafted(2, 0))
        n_misses += 1
    return n_misses


def sit_out(governor: GradedGovernor) -> int:
    """Run plain rounds until the pause is over; return their number."""
    n_rounds = 0
    while not governor.limit():
        governor.observe(PLAIN)
        n_rounds += 1
    return n_rounds


def test_misses_pause_and_pauses_double() -> None:
    """Three drafted rounds that land nothing pause for 4 rounds, then 8, 16, 32 and no longer (reference A5)."""
    governor = GradedGovernor(7)
    pauses = [(miss_until_paused(governor), sit_out(governor)) for _ in range(6)]
    assert [(3, 4), (3, 8), (3, 16), (3, 32), (3, 32), (3, 32)] == pauses
    assert (6, 124) == (governor.counts.n_pauses, governor.counts.n_paused_rounds)


def test_any_landing_resets_misses_and_pause() -> None:
    """One accepted token sets the misses back to none and the next pause back to four (reference A5)."""
    governor = GradedGovernor(7)
    for _ in range(3):
        miss_until_paused(governor)
        sit_out(governor)
    governor.observe(drafted(2, 0))
    governor.observe(drafted(2, 0))
    governor.observe(drafted(2, 1))
    assert (3, 4) == (miss_until_paused(governor), sit_out(governor))


def test_plain_rounds_between_misses_change_nothing() -> None:
    """Rounds without a proposal neither count as misses nor forgive them (reference A5)."""
    governor = GradedGovernor(7)
    for outcome in (drafted(2, 0), PLAIN, drafted(2, 0), PLAIN, drafted(2, 0)):
        assert governor.limit() > 0
        governor.observe(outcome)
    assert governor.limit() == 0


def test_a_draft_of_one_is_the_least() -> None:
    """The budget never exceeds max draft, even at one (reference A5)."""
    governor = GradedGovernor(1)
    assert governor.limit() == 1
