"""The gated policy follows its reference, constants and all."""

from __future__ import annotations

import pytest

from plgd.engine.gated import GatedGovernor
from plgd.engine.proposer import NO_DRAFT, Draft
from plgd.engine.types import Outcome


def drafted(n_drafted: int, n_accepted: int) -> Outcome:
    """Make a drafted round."""
    tokens = tuple(range(n_drafted))
    draft = Draft(tokens, "ngram", 3)
    return Outcome(draft, n_drafted, n_accepted, (*tokens[:n_accepted], 99), 100, False, False, None)


def plain(token: int, proposed: tuple[int, ...] = ()) -> Outcome:
    """Make a plain round that emitted a token and, perhaps, looked something up."""
    draft = Draft(proposed, "ngram", 3) if proposed else NO_DRAFT
    return Outcome(draft, 0, 0, (token,), 100, True, False, None)


def paused_governor() -> GatedGovernor:
    """Make a governor that a zero round on probation has paused."""
    governor = GatedGovernor(7)
    governor.observe(drafted(2, 0))
    return governor


def is_drafting(governor: GatedGovernor) -> bool:
    """Tell whether the governor verifies what is proposed."""
    return governor.choose(Draft((1, 2), "ngram", 3), 100, in_flight=False) > 0


def test_it_starts_narrow_and_goes_full_on_one_whole_narrow_draft() -> None:
    """Drafts are of 2 tokens until the mean reaches 1.5, then of max draft; nothing between (reference A6)."""
    governor = GatedGovernor(7)
    assert governor.limit() == 2
    governor.observe(drafted(2, 2))  # mean 1.5
    assert governor.limit() == 7
    governor.observe(drafted(7, 0))  # mean 0.75
    assert governor.limit() == 2


def test_a_miss_on_probation_pauses_at_once() -> None:
    """Before a whole narrow draft landed, a round that lands nothing pauses (reference A6)."""
    governor = GatedGovernor(7)
    governor.observe(drafted(2, 1))
    assert is_drafting(governor)
    governor.observe(drafted(2, 0))
    assert not is_drafting(governor)
    assert governor.counts.n_pauses == 1


def test_after_probation_three_misses_pause() -> None:
    """Once a whole narrow draft landed, it takes three rounds in a row that land nothing (reference A6)."""
    governor = GatedGovernor(7)
    governor.observe(drafted(2, 2))
    governor.observe(drafted(7, 0))
    governor.observe(drafted(2, 0))
    governor.observe(drafted(2, 1))
    governor.observe(drafted(2, 0))
    governor.observe(drafted(2, 0))
    assert is_drafting(governor)
    governor.observe(drafted(2, 0))
    assert not is_drafting(governor)


def test_a_pause_has_no_timer() -> None:
    """Without a proposal that comes true a pause lasts for ever (reference A6)."""
    governor = paused_governor()
    for _ in range(1000):
        governor.observe(plain(5))
    assert not is_drafting(governor)
    assert governor.counts.n_paused_rounds == 1000


def test_a_confirmed_shadow_probe_resumes_narrow_and_on_probation() -> None:
    """When the next two tokens equal a held probe, drafting resumes, narrow, on probation (reference A6)."""
    governor = paused_governor()
    assert governor.limit() == 2
    governor.observe(plain(10, proposed=(10, 11)))
    assert not is_drafting(governor)
    assert governor.limit() == 0  # one probe is held, no other is looked up
    governor.observe(plain(11))
    assert is_drafting(governor)
    assert governor.limit() == 2
    governor.observe(drafted(2, 0))
    assert not is_drafting(governor)
    assert (1, 1) == (governor.counts.n_shadow_probes, governor.counts.n_shadow_confirmations)


@pytest.mark.parametrize("emitted", [(9, 11), (10, 9)])
def test_a_probe_that_fails_is_replaced(emitted: tuple[int, int]) -> None:
    """A probe that one of the two tokens disproves is dropped, and the next look-up may be held (reference A6)."""
    governor = paused_governor()
    governor.observe(plain(emitted[0], proposed=(10, 11)))
    governor.observe(plain(emitted[1]))
    assert not is_drafting(governor)
    assert governor.limit() == 2
    governor.observe(plain(20, proposed=(20, 21)))
    governor.observe(plain(21))
    assert is_drafting(governor)


def test_a_proposal_of_one_token_is_no_probe() -> None:
    """A probe needs two proposed tokens (reference A6)."""
    governor = paused_governor()
    governor.observe(plain(10, proposed=(10,)))
    governor.observe(plain(11))
    assert not is_drafting(governor)
    assert governor.counts.n_shadow_probes == 0


def test_paused_rounds_pipeline_at_once() -> None:
    """A paused governor lets the very next plain round submit its successor; a drafting one waits (reference A7)."""
    governor = GatedGovernor(7)
    assert governor.pipeline_after == 2
    assert paused_governor().pipeline_after == 0
