"""The n-gram proposer finds what a scan would find, without scanning."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.engine.ngram import MAX_NGRAM, NgramProposer
from plgd.engine.proposer import NO_DRAFT


def scan(history: list[int], ngram_min: int, ngram_max: int, max_tokens: int) -> tuple[int, ...]:
    """Find the draft by comparing every place of the history, latest first."""
    for n in range(min(ngram_max, len(history) - 1), ngram_min - 1, -1):
        for start in range(len(history) - n - 1, -1, -1):
            if history[start : start + n] == history[-n:]:
                return tuple(history[start + n :][:max_tokens])
    return ()


@given(
    tokens=st.lists(st.integers(0, 2), max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=4),
    bounds=st.tuples(st.integers(1, 5), st.integers(1, 5)).map(sorted),
    max_tokens=st.integers(1, 12),
)
def test_look_up_equals_a_scan_at_every_length(
    tokens: list[int], cuts: list[int], bounds: list[int], max_tokens: int
) -> None:
    """However the history arrives, a look-up gives what a scan gives, at every context length (reference A3)."""
    for places in (range(len(tokens) + 1), sorted({0, *cuts, len(tokens)})):
        proposer = NgramProposer(*bounds)
        for start, end in pairwise(places):
            proposer.extend(tokens[start:end])
            assert scan(tokens[:end], bounds[0], bounds[1], max_tokens) == proposer.propose(max_tokens).tokens


@given(st.lists(st.integers(0, 1), min_size=2, max_size=80))
def test_match_length_is_how_far_the_two_places_agree(tokens: list[int]) -> None:
    """A draft tells how many tokens before it agree with those before the place it was read from, 32 at most."""
    proposer = NgramProposer(2, 3)
    proposer.extend(tokens)
    draft = proposer.propose(1000)
    if draft is not NO_DRAFT:
        start = len(tokens) - len(draft.tokens)
        agreeing = next((n for n in range(start) if tokens[start - n - 1] != tokens[-n - 1]), start)
        assert min(agreeing, 32) == draft.match_length


def test_the_latest_occurrence_with_a_follower_is_taken() -> None:
    """Of several earlier occurrences the latest is continued, and the history's own end is none (references A3, B1)."""
    proposer = NgramProposer(4, 4)
    proposer.extend([1, 2, 3, 4, 70, 1, 2, 3, 4, 80, 81, 1, 2, 3, 4])
    assert (80, 81, 1, 2) == proposer.propose(4).tokens


def test_the_longest_ngram_goes_first() -> None:
    """A three-token match goes before a later two-token match (reference A3)."""
    proposer = NgramProposer(2, 3)
    proposer.extend([1, 2, 3, 50, 9, 2, 3, 60, 1, 2, 3])
    assert (50,) == proposer.propose(1).tokens


@pytest.mark.parametrize("history", [[], [1], [1, 2, 3], [1, 2, 3, 4, 5]])
def test_nothing_known_is_no_draft(history: list[int]) -> None:
    """A history that does not repeat itself gives no draft."""
    proposer = NgramProposer()
    proposer.extend(history)
    assert NO_DRAFT is proposer.propose(7)


def test_no_room_is_no_draft() -> None:
    """Asked for no tokens, the proposer proposes none."""
    proposer = NgramProposer(1, 1)
    proposer.extend([1, 1])
    assert NO_DRAFT is proposer.propose(0)


@pytest.mark.parametrize("bounds", [(0, 3), (4, 3), (2, MAX_NGRAM + 1), (-1, -1)])
def test_bad_lengths_are_refused(bounds: tuple[int, int]) -> None:
    """N-gram lengths outside 1 to 16, or reversed, are refused with the bounds in the message (reference A4)."""
    with pytest.raises(ValueError, match=rf"{bounds[0]} to {bounds[1]}.*ngram_max <= 16"):
        NgramProposer(*bounds)


class CountingToken(int):
    """A token that counts how often it is hashed or compared."""

    n_uses = 0

    def __hash__(self) -> int:
        CountingToken.n_uses += 1
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        CountingToken.n_uses += 1
        return super().__eq__(other)


def test_work_per_token_does_not_grow_with_the_history() -> None:
    """A token is hashed and compared as often at the end of a long history as near its beginning (reference A3)."""
    n_uses = []
    for n_before in (1_000, 64_000):
        proposer = NgramProposer()
        proposer.extend([CountingToken(token % 5) for token in range(n_before)])
        CountingToken.n_uses = 0
        for token in range(64):
            proposer.extend([CountingToken(token % 5)])
            proposer.propose(8)
        n_uses.append(CountingToken.n_uses)
    assert n_uses[0] == n_uses[1] > 0
