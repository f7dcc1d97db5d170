"""A session stays in step with its target, and refuses what it cannot do."""

from __future__ import annotations

from contextlib import closing

import pytest

from doubles import HistoryTarget, ScriptedTarget
from plgd.engine.governor import make_governor
from plgd.engine.ngram import NgramProposer
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.engine.types import StopReason
from session_replies import NEVER, PatternWatcher, decode_reply, policy_session, reference_reply, session_of

PROMPT = [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]


def test_prefill_tells_its_progress() -> None:
    """After each slice the prompt tokens done so far are told; the first is longer by one that waits (reference A8)."""
    session = policy_session(HistoryTarget(), "graded")
    assert [5, 9, 10] == list(session.prefill(PROMPT, 4))
    assert session.stats.n_prompt_tokens == 10
    assert [4, 5] == list(session.prefill([7] * 5, 4))


def test_the_prompt_is_indexed_while_it_is_prefilled() -> None:
    """After each slice, the index knows what the target knows, and nothing of the slices to come (reference A3)."""
    target, proposer = HistoryTarget(), NgramProposer(2, 3)
    session = Session(target, proposer, make_governor("graded"))
    for n_done in session.prefill(PROMPT, 4):
        expected = NgramProposer(2, 3)
        expected.extend(PROMPT[:n_done])
        assert expected.propose(9) == proposer.propose(9)
        assert n_done == target.offset + 1


@pytest.mark.parametrize("slice_tokens", [1, 2, 3, 100])
def test_slices_do_not_change_the_reply(slice_tokens: int) -> None:
    """However the prompt is cut, the first token and all others are those of plain decoding (reference A8)."""
    prompt = [1, 2, 3, 1, 2]
    session = policy_session(HistoryTarget(), "graded")
    decode_reply(session, prompt, Stops(NEVER, 20), slice_tokens=slice_tokens)
    assert prompt + reference_reply(prompt, 20) == session.tokens


def test_a_closed_prefill_can_be_continued() -> None:
    """A prefill closed after a slice leaves the slices done, and the rest may follow."""
    target = HistoryTarget()
    session = policy_session(target, "graded")
    with closing(session.prefill([1, 2, 3, 1], 2)) as slices:
        assert next(slices) == 3
    assert (2, [1, 2, 3]) == (target.offset, session.tokens)
    decode_reply(session, [1], Stops(NEVER, 5))
    assert [1, 2, 3, 1, *reference_reply([1, 2, 3, 1], 5)] == session.tokens


@pytest.mark.parametrize(("n_prompt", "slice_tokens"), [(0, 4), (9, 4), (3, 0)])
def test_a_prompt_that_cannot_be_taken_is_refused_at_once(n_prompt: int, slice_tokens: int) -> None:
    """An empty or too long prompt and an empty slice are refused before the model runs."""
    target = HistoryTarget(context_limit=8)
    session = policy_session(target, "graded")
    with pytest.raises(ValueError, match=r"does not fit|slice_tokens"):
        session.prefill([1] * n_prompt, slice_tokens)
    assert target.calls == []


def test_a_reply_needs_a_prompt() -> None:
    """Decoding without a prompt is refused."""
    with pytest.raises(ValueError, match="needs a prompt"):
        policy_session(HistoryTarget(), "graded").decode(Stops(NEVER, 3))


def test_two_open_generators_are_refused() -> None:
    """A session serves one reply at a time; an open one must be closed first."""
    session = policy_session(HistoryTarget(), "graded")
    list(session.prefill([1, 2], 4))
    first = session.decode(Stops(NEVER, 9))
    next(first)
    with pytest.raises(RuntimeError, match="close the session's open"):
        session.decode(Stops(NEVER, 9))
    with pytest.raises(RuntimeError, match="close the session's open"):
        session.prefill([1], 1)


def test_rounds_tell_what_they_did() -> None:
    """A round tells what it committed, what it drafted and accepted, and who proposed (reference A1)."""
    reply = [10, 11, 12, 13, 14, 15]
    session = session_of(ScriptedTarget(reply), [1, *reply], [(3, 1), (0, None), (9, None)], [(4, False)])
    rounds = decode_reply(session, [1], Stops(NEVER, 6))
    told = [(each.tokens, each.n_drafted, each.n_accepted, each.proposer, each.stopped) for each in rounds]
    assert [
        ((10, 11), 3, 1, "planned", None),  # a correction after a miss
        ((12,), 0, 0, "none", None),  # a plain round
        ((13, 14, 15), 2, 2, "planned", StopReason.MAX_TOKENS),  # all accepted, and the bonus
    ] == told


def test_statistics_are_raw_counts() -> None:
    """Rounds, drafted and accepted tokens, widths and acceptance lengths are counted (reference A14)."""
    reply = [10, 11, 12, 13, 14, 15]
    session = session_of(ScriptedTarget(reply), [1, *reply], [(3, 1), (0, None), (9, None)], [(4, False)])
    decode_reply(session, [1], Stops(NEVER, 6))
    stats = session.stats
    assert (1, 6, 3, 1, 0, 2) == (
        stats.n_prompt_tokens,
        stats.n_tokens,
        stats.n_rounds,
        stats.n_plain_rounds,
        stats.n_pipelined_rounds,
        stats.n_drafted_rounds,
    )
    assert (5, 3) == (stats.n_drafted, stats.n_accepted)
    assert {4: 1, 1: 1, 3: 1} == stats.widths
    assert (0, 1, 1) == stats.acceptance_histogram()
    counts = stats.proposers["planned"]
    assert (2, 5, 3) == (counts.n_drafts, counts.n_drafted, counts.n_accepted)


def test_statistics_keep_the_governors_counts() -> None:
    """Pauses and shadow confirmations stand beside the session's counts (reference A14)."""
    session = policy_session(HistoryTarget(vocabulary=2), "gated")
    decode_reply(session, [0, 1] * 6, Stops(NEVER, 300))
    assert session.stats.governor.n_pauses > 0
    assert session.stats.governor.n_shadow_confirmations > 0


def test_a_watcher_sees_each_committed_token_once() -> None:
    """The text-level stop is fed every committed token once and nothing that was rejected."""
    reply = list(range(50, 80))
    watcher = PatternWatcher([-5])
    session = session_of(ScriptedTarget(reply), [1, *reply], [(6, 2), (5, None)], [(9, False)])
    decode_reply(session, [1], Stops(NEVER, 30, watcher))
    assert reply == watcher.seen
