"""Chances of acceptance are learnt by the evidence that a draft rests on."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.engine.evidence import Chances, Fate
from plgd.engine.proposer import Draft


def draft(length: int, match_length: int, proposer: str = "ngram") -> Draft:
    """Make a draft with its evidence."""
    return Draft(tuple(range(length)), proposer, match_length)


def first_chance(chances: Chances, match_length: int, proposer: str = "ngram") -> float:
    """Return the chance of a draft's first token."""
    return next(chances.survival(draft(1, match_length, proposer)))


def test_longer_matches_are_trusted_more_from_the_start() -> None:
    """Before anything was seen, a longer match has the higher chance."""
    chances = [first_chance(Chances(), match_length) for match_length in (1, 2, 4, 8, 16, 100)]
    assert sorted(set(chances)) == chances


@given(st.integers(0, 300), st.integers(1, 130), st.lists(st.tuples(st.integers(1, 9), st.booleans()), max_size=9))
def test_survival_falls_from_token_to_token(match_length: int, length: int, seen: list[tuple[int, bool]]) -> None:
    """Whatever was seen, the chance that a draft has survived only falls along it, and is a chance."""
    chances = Chances()
    for n_accepted, missed in seen:
        chances.observe(draft(12, match_length), n_accepted + missed, n_accepted, chances.fate)
    survival = [1.0, *chances.survival(draft(length, match_length))]
    assert length + 1 == len(survival)
    assert all(0.0 < later <= earlier for earlier, later in pairwise(survival))


def test_what_lands_becomes_likely_and_what_misses_unlikely() -> None:
    """After fifty landings a chance is high, after fifty misses low, whatever was assumed."""
    for n_accepted, bounds in ((1, (0.85, 1.0)), (0, (0.0, 0.1))):
        chances = Chances()
        for _ in range(50):
            chances.observe(draft(1, 3), 1, n_accepted, chances.fate)
        assert bounds[0] < first_chance(chances, 3) < bounds[1]


def test_a_run_teaches_the_chances_of_longer_matches() -> None:
    """Position i of a draft teaches the chance behind a match that is longer by i."""
    chances = Chances()
    for _ in range(20):
        chances.observe(draft(30, 3), 30, 30, Fate.WHOLE)
    fresh = Chances()
    assert first_chance(chances, 20) > first_chance(fresh, 20)


def test_misses_of_short_matches_lower_the_hope_in_longer_ones() -> None:
    """Where short matches mislead more than assumed, longer ones are believed less before they are tried."""
    chances = Chances()
    for _ in range(20):
        chances.observe(draft(1, 4), 1, 0, Fate.MISSED)
    assert first_chance(chances, 6) < 0.8 * first_chance(Chances(), 6)


def test_the_fate_of_the_last_proposal_is_evidence() -> None:
    """Text that copies goes on copying: what followed landings is told apart from what followed misses."""
    chances = Chances()
    for _ in range(30):
        chances.observe(draft(1, 3), 1, 1, Fate.WHOLE)
        chances.observe(draft(1, 3), 1, 0, Fate.MISSED)
    after_miss = first_chance(chances, 3)
    chances.observe(draft(1, 3), 1, 1, Fate.WHOLE)
    assert first_chance(chances, 3) > after_miss + 0.3


@pytest.mark.parametrize(
    ("n_tested", "n_accepted", "fate"), [(4, 0, Fate.MISSED), (4, 2, Fate.LANDED), (4, 4, Fate.WHOLE)]
)
def test_fates_are_told_apart(n_tested: int, n_accepted: int, fate: Fate) -> None:
    """A proposal misses, lands in part, or lands whole."""
    chances = Chances()
    chances.observe(draft(4, 3), n_tested, n_accepted, chances.fate)
    assert fate is chances.fate


def test_proposers_are_told_apart() -> None:
    """What one proposer's drafts met says nothing about another's."""
    chances = Chances()
    for _ in range(30):
        chances.observe(draft(1, 3, "file"), 1, 0, Fate.MISSED)
    assert first_chance(Chances(), 3) == first_chance(chances, 3, "ngram")


def test_old_evidence_fades() -> None:
    """Twenty misses outweigh hundreds of landings that came before them."""
    chances = Chances()
    for _ in range(300):
        chances.observe(draft(1, 3), 1, 1, Fate.WHOLE)
    for _ in range(20):
        chances.observe(draft(1, 3), 1, 0, Fate.WHOLE)
    assert first_chance(chances, 3) < 0.5


def test_promises_that_are_not_kept_are_believed_less() -> None:
    """A proposer whose drafts land less than they promise is believed that much less, until they land again."""
    chances = Chances()
    own = Draft((1, 2, 3, 4), "file", 9, chances=(0.99,) * 4)
    for _ in range(30):
        chances.observe(own, 4, 0, chances.fate)
    assert next(chances.survival(own)) < 0.25
    assert next(chances.survival(Draft((1,), "other", 9, chances=(0.99,)))) == 0.99
    for _ in range(60):
        chances.observe(own, 4, 4, chances.fate)
    assert next(chances.survival(own)) > 0.9


def test_a_draft_with_its_own_chances_is_believed() -> None:
    """A proposer that keeps count of its own acceptance is taken at its word."""
    own = Draft((1, 2, 3), "file", 9, chances=(0.5, 0.5, 1.0))
    assert [0.5, 0.25, 0.25] == list(Chances().survival(own))
