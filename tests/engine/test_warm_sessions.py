"""A warm prompt: the session goes on behind what was kept, and replies as a cold one does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doubles import HistoryTarget, KeptStates, PlannedGovernor, PlannedProposer
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from session_replies import NEVER, decode_reply, policy_session, reference_reply

PROMPTS = st.lists(st.integers(0, 3), min_size=1, max_size=24)
N_REPLY = 8


def warm_reply(target: HistoryTarget, prompt: Sequence[int], n_warm: int, slice_tokens: int) -> list[int]:
    """Decode a reply with drafts behind a prompt whose beginning is warm."""
    session = policy_session(target, "graded")
    for _ in session.prefill(prompt, slice_tokens, n_warm=n_warm):
        pass
    assert (len(prompt), n_warm) == (session.stats.n_prompt_tokens, session.stats.n_cached_tokens)
    rounds = list(session.decode(Stops(NEVER, N_REPLY)))
    return [token for round_ in rounds for token in round_.tokens]


@given(prompts=st.lists(PROMPTS, min_size=2, max_size=6), slice_tokens=st.integers(1, 9), trims_far=st.booleans())
def test_warm_replies_equal_cold_ones(prompts: list[list[int]], slice_tokens: int, trims_far: bool) -> None:
    """Whatever prompt came before, a reply behind its kept state is the reply from scratch."""
    kept: KeptStates | None = None
    for prompt in prompts:
        target = HistoryTarget(trims_far=trims_far)
        n_warm = 0 if kept is None else target.resume(kept, prompt)
        assert reference_reply(prompt, N_REPLY) == warm_reply(target, prompt, n_warm, slice_tokens)
        kept = target.keep(len(prompt))


def test_only_the_rest_is_fed() -> None:
    """Of a prompt that begins like the last one, only what differs is prefilled; the head always is."""
    first = HistoryTarget()
    decode_reply(policy_session(first, "off"), [1, 2, 3, 1, 2], Stops(NEVER, 4))
    kept = first.keep(5)
    assert kept is not None
    assert 4 == kept.n_tokens
    target = HistoryTarget()
    assert 3 == target.resume(kept, [1, 2, 3, 0, 0])
    session = policy_session(target, "off")
    assert [5] == list(session.prefill([1, 2, 3, 0, 0], 64, n_warm=3))
    assert [1, 2, 3, 0] == target._fed


def test_a_prompt_that_is_warm_as_a_whole_needs_no_prefill() -> None:
    """The same prompt once more: nothing but its last token is left to feed, and that begins the reply."""
    first = HistoryTarget()
    decode_reply(policy_session(first, "off"), [1, 2, 3], Stops(NEVER, 4))
    kept = first.keep(3)
    assert kept is not None
    target = HistoryTarget()
    assert 2 == target.resume(kept, [1, 2, 3])
    assert reference_reply([1, 2, 3], N_REPLY) == warm_reply(target, [1, 2, 3], 2, 64)
    assert "prefill" not in target.calls


def test_what_the_model_said_is_not_kept() -> None:
    """However much is asked for, the reply stays out of what is kept."""
    target = HistoryTarget()
    decode_reply(policy_session(target, "graded"), [1, 2, 3], Stops(NEVER, 12))
    kept = target.keep(1 << 20)
    assert kept is not None
    assert [1, 2] == kept.tokens


def test_states_that_cannot_go_back_go_back_to_a_slice() -> None:
    """A state that drops no tail goes back to the end of the last slice before the change."""
    target = HistoryTarget(trims_far=False)
    for piece in ([1, 2, 3], [1, 2, 3], [0, 0]):
        target.prefill(piece)
    kept = target.keep(7)
    assert kept is not None
    assert (7, 5, 2) == (
        kept.reach([1, 2, 3, 1, 2, 3, 0, 0]),
        kept.reach([1, 2, 3, 1, 2, 3, 2, 2]),
        kept.reach([1, 2, 3, 0]),
    )
    assert 0 == kept.reach([1, 3, 0, 0])


def test_an_unseen_beginning_is_an_error() -> None:
    """A session that is told of warm tokens that its target has not seen notices."""
    session = Session(HistoryTarget(), PlannedProposer([], []), PlannedGovernor([]))
    with pytest.raises(Exception, match="offset disagrees"):
        list(session.prefill([1, 2, 3], 64, n_warm=2))


@pytest.mark.parametrize("n_warm", [-1, 3, 4])
def test_impossible_counts_are_refused(n_warm: int) -> None:
    """At least the last token of a prompt is cold."""
    session = Session(HistoryTarget(), PlannedProposer([], []), PlannedGovernor([]))
    with pytest.raises(ValueError, match="warm tokens"):
        session.prefill([1, 2, 3], 64, n_warm=n_warm)
