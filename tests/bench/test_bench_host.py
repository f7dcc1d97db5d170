"""plgd's own time, measured on a target that costs nothing."""

from __future__ import annotations

import itertools
from functools import partial

import pytest

from doubles import ScriptedTarget
from plgd.bench.host.command import measure_host
from plgd.bench.host.free_target import FreeTarget
from plgd.engine.governor import POLICIES, make_governor, make_proposer
from plgd.engine.session import Session
from plgd.engine.stats import Stats
from plgd.engine.stops import Stops
from plgd.engine.target import Target

PROMPT = [1, 2, 3, 4, 5, 6, 7, 8, 9] * 3
REPLY = [1, 2, 3, 4, 5, 99, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7] * 4


def decode(target: Target, policy: str) -> tuple[list[int], Stats]:
    """Decode 60 tokens of the reply."""
    session = Session(target, make_proposer(policy), make_governor(policy), clock=partial(next, itertools.count()))
    for _ in session.prefill(PROMPT, 8):
        pass
    for _ in session.decode(Stops(frozenset(), 60)):
        pass
    return session.tokens, session.stats


@pytest.mark.parametrize("policy", POLICIES)
def test_the_free_target_gives_the_same_rounds(policy: str) -> None:
    """A target that does nothing leads to the same tokens and counts as one that follows its cache."""
    tokens, stats = decode(FreeTarget(REPLY), policy)
    expected_tokens, expected = decode(ScriptedTarget(REPLY), policy)
    assert expected_tokens == tokens
    assert (expected.n_rounds, expected.n_drafted, expected.n_accepted) == (
        stats.n_rounds,
        stats.n_drafted,
        stats.n_accepted,
    )


def test_time_is_told_per_round_and_token() -> None:
    """With plain decoding a round is a token; the index is counted apart, per token of the prompt."""
    found = measure_host("off", 1000, n_repeats=3, clock=partial(next, itertools.count()))
    assert (1000, 2000, found.token_us) == (found.n_context, found.n_rounds, found.round_us)
    # The clock ticks when decoding begins and ends and twice in each round between.
    assert pytest.approx(1e6 * 4001 / 2000) == found.round_us
    assert pytest.approx(1e6 / 1000) == found.prefill_us


def test_drafting_shares_a_round_between_tokens() -> None:
    """A policy that drafts takes more time a round and fewer rounds."""
    found = measure_host("ds4", 2500, n_repeats=1, clock=partial(next, itertools.count()))
    assert found.n_rounds < 2000
    assert found.token_us < found.round_us
