"""Whatever fails, a session is usable or closed, never wrong."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doubles import FailingTarget, HistoryTarget, StubbornTarget
from plgd.engine.stops import Stops
from plgd.errors import EngineError, RollbackFailed
from session_replies import NEVER, decode_reply, policy_session, reference_reply, session_of

PROMPT = [0, 1, 0, 1, 0, 1]
DRAFTS: list[tuple[int, int | None]] = [(3, 1), (0, None), (2, None), (0, None), (0, None), (4, 0)]
PLAN = [(7, False), (0, True), (7, False), (7, True)]


def n_calls_of_a_whole_run() -> int:
    """Count the target's calls when nothing fails."""
    target = HistoryTarget()
    decode_reply(
        session_of(target, PROMPT + reference_reply(PROMPT, 25), DRAFTS, PLAN), PROMPT, Stops(NEVER, 25), slice_tokens=2
    )
    return len(target.calls)


@pytest.mark.parametrize("fails_in_call", range(1, n_calls_of_a_whole_run() + 1))
def test_a_target_that_fails_closes_the_session(fails_in_call: int) -> None:
    """After the target raised in any of its calls, the error is told, what was committed is right, and no more is."""
    reply = reference_reply(PROMPT, 25)
    session = session_of(FailingTarget(fails_in_call), PROMPT + reply, DRAFTS, PLAN)
    with pytest.raises(EngineError, match="told to fail"):
        decode_reply(session, PROMPT, Stops(NEVER, 25), slice_tokens=2)
    assert (PROMPT + reply)[: len(session.tokens)] == session.tokens
    with pytest.raises(EngineError, match="an earlier round failed"):
        session.prefill([1], 1)
    if session.tokens:
        with pytest.raises(EngineError, match="an earlier round failed"):
            session.decode(Stops(NEVER, 25))


@given(
    fails_in_call=st.integers(1, 60),
    drafts=st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, 9)), max_size=6),
    rounds=st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=7),
    slice_tokens=st.integers(1, 6),
)
def test_whatever_is_drafted_a_failure_closes_the_session(
    fails_in_call: int, drafts: list[tuple[int, int | None]], rounds: list[tuple[int, bool]], slice_tokens: int
) -> None:
    """In whichever call and state the target fails, what was committed is right; if it never does, all of it is."""
    reply = reference_reply(PROMPT, 25)
    session = session_of(FailingTarget(fails_in_call), PROMPT + reply, drafts, rounds)
    try:
        decode_reply(session, PROMPT, Stops(NEVER, 25), slice_tokens=slice_tokens)
    except EngineError:
        with pytest.raises(EngineError, match="an earlier round failed"):
            session.prefill([1], 1)
        assert (PROMPT + reply)[: len(session.tokens)] == session.tokens
    else:
        assert PROMPT + reply == session.tokens


def test_a_generator_made_before_the_failure_is_refused_too() -> None:
    """A reply that was asked for before the session failed does not run either."""
    session = session_of(FailingTarget(2))
    list(session.prefill(PROMPT, 99))
    waiting = session.decode(Stops(NEVER, 5))
    with pytest.raises(EngineError, match="told to fail"):
        list(session.decode(Stops(NEVER, 5)))
    with pytest.raises(EngineError, match="an earlier round failed"):
        next(waiting)


def test_a_watcher_that_fails_closes_the_session() -> None:
    """An exception out of a text-level stop leaves the round half done, so the session is closed."""

    class Broken:
        def push(self, token: int) -> bool:
            raise LookupError(token)

    session = session_of(HistoryTarget())
    with pytest.raises(LookupError):
        decode_reply(session, PROMPT, Stops(NEVER, 5, Broken()))
    with pytest.raises(EngineError, match="an earlier round failed"):
        session.decode(Stops(NEVER, 5))


def test_closing_never_fails() -> None:
    """A reply's generator closes cleanly in every state: fresh, running, failed, closed."""
    session = session_of(FailingTarget(4))
    list(session.prefill(PROMPT, 99))
    with closing(session.decode(Stops(NEVER, 9))):
        pass
    with closing(session.decode(Stops(NEVER, 9))) as rounds:
        next(rounds)
        next(rounds)
        with pytest.raises(EngineError):
            next(rounds)


def test_a_cache_that_refuses_to_trim_is_told() -> None:
    """A rollback that the target cannot do raises, and the session is closed."""
    reply = reference_reply(PROMPT, 25)
    session = session_of(StubbornTarget(12), PROMPT + reply, [(3, 1)], [(3, False)])
    with pytest.raises(RollbackFailed, match="Rollback of 2 tokens dropped 0 in a full cache"):
        decode_reply(session, PROMPT, Stops(NEVER, 25))
    assert (PROMPT + reply)[: len(session.tokens) - 2] == session.tokens[:-2]


def test_a_cache_that_silently_does_not_trim_is_found_out() -> None:
    """A target that claims a rollback it did not do is caught by its offset, in the same round (reference A16)."""
    reply = reference_reply(PROMPT, 25)
    session = session_of(StubbornTarget(12, silent=True), PROMPT + reply, [(3, 1)], [(3, False)])
    with pytest.raises(RollbackFailed, match="Rollback of 2 tokens dropped 0 in the target"):
        decode_reply(session, PROMPT, Stops(NEVER, 25))


def test_a_target_with_too_few_choices_is_found_out() -> None:
    """A target that makes too few choices breaks its contract; the round fails instead of guessing."""

    class Short(HistoryTarget):
        def verify(self, draft: Sequence[int]) -> Sequence[int]:
            return tuple(draft)

    with pytest.raises(EngineError, match="0 drafted tokens need 1 choices, the target made 0"):
        decode_reply(session_of(Short()), PROMPT, Stops(NEVER, 5))


def test_a_policy_never_drafts_what_the_target_cannot_take_back() -> None:
    """Plain decoding needs no rollback, so `off` runs on a target that cannot trim at all."""
    session = policy_session(StubbornTarget(0), "off")
    decode_reply(session, PROMPT, Stops(NEVER, 25))
    assert PROMPT + reference_reply(PROMPT, 25) == session.tokens
