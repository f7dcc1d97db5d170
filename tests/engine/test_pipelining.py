"""Plain rounds are pipelined, and a step in flight is never lost or used twice."""

from __future__ import annotations

from doubles import HistoryTarget, PlannedProposer
from plgd.engine.fixed import FixedGovernor
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from session_replies import NEVER, decode_reply, policy_session, reference_reply, session_of


def test_pipelining_begins_after_two_plain_rounds() -> None:
    """The third plain round in a row is the first to submit the next step ahead (reference A7)."""
    target = HistoryTarget()
    session = policy_session(target, "off")
    decode_reply(session, [1], Stops(NEVER, 5))
    assert ["prefill", "verify", "verify", "advance", "advance", "advance"] == target.calls
    assert session.stats.n_pipelined_rounds == 3


def test_a_drafted_round_starts_the_count_again() -> None:
    """After a drafted round, two plain rounds are synchronous again (reference A7)."""
    prompt = [1]
    reply = reference_reply(prompt, 12)
    target = HistoryTarget()
    # One proposal per round: none for three rounds, one token, then none.
    proposer = PlannedProposer(prompt + reply, [*[(0, None)] * 3, (1, None), *[(0, None)] * 4])
    session = Session(target, proposer, FixedGovernor("fixed", 7))
    decode_reply(session, prompt, Stops(NEVER, 9))
    assert ["verify", "verify", "advance", "verify", "verify", "verify", "advance", "advance"] == target.calls[1:]
    assert prompt + reply[:9] == session.tokens


def test_a_paused_gated_governor_pipelines_at_once() -> None:
    """While gated drafting is paused, every plain round is pipelined from the first (reference A7)."""
    target = HistoryTarget(seed=1)
    session = policy_session(target, "gated")
    decode_reply(session, [0, 1, 0, 1, 0], Stops(NEVER, 200))
    assert session.stats.governor.n_paused_rounds == session.stats.n_pipelined_rounds > 0


def test_a_draft_that_meets_a_step_in_flight_is_counted() -> None:
    """A draft behind a pipelined round feeds only itself, and the statistics count the meeting."""
    prompt = [1]
    reply = reference_reply(prompt, 20)
    target = HistoryTarget()
    # Plain and pipelined, then three tokens drafted, in turn.
    session = session_of(target, prompt + reply, [(3, None)], [(0, True), (3, False)])
    decode_reply(session, prompt, Stops(NEVER, 10))
    # 1 token, 4 tokens, 1 token, 4 tokens; each pipelined round reads one pass and submits another.
    assert [1, 1, 3, 1, 1, 3] == target.widths
    assert session.stats.n_met_in_flight == 2
    assert prompt + reply[:10] == session.tokens


def test_a_wrong_guess_of_the_token_in_flight_is_rolled_back() -> None:
    """The value of a step in flight is part of the proposal; when it is guessed wrongly, nothing of the draft stays."""
    prompt = [1]
    reply = reference_reply(prompt, 20)
    target = HistoryTarget()
    session = session_of(target, prompt + reply, [(3, 0)], [(0, True), (3, False)])
    rounds = decode_reply(session, prompt, Stops(NEVER, 10))
    assert {0} == {each.n_accepted for each in rounds}
    assert prompt + reply[:10] == session.tokens


def test_no_step_is_submitted_past_the_context_limit() -> None:
    """Pipelining never feeds a token for which the context has no room."""
    target = HistoryTarget(context_limit=10)
    session = policy_session(target, "off")
    decode_reply(session, [1, 2], Stops(NEVER, 100))
    assert len(session.tokens) == 10
    assert sum(target.widths) == 8
