"""Drafting changes the speed of a reply and nothing else."""

from __future__ import annotations

from contextlib import closing
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from doubles import HistoryTarget
from plgd.engine.governor import POLICIES
from plgd.engine.stops import Stops
from plgd.engine.types import StopReason
from session_replies import NEVER, PatternWatcher, decode_reply, policy_session, reference_reply, session_of

prompts = st.lists(st.integers(0, 3), min_size=1, max_size=12)
drafts = st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, 9)), max_size=6)
rounds = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=7)


def expected_end(
    reply: list[int], eos: frozenset[int], pattern: list[int], max_tokens: int, room: int
) -> tuple[list[int], StopReason]:
    """Cut a reply where its stops say, one token after the other."""
    for n in range(1, len(reply) + 1):
        if reply[n - 1] in eos:
            return reply[:n], StopReason.EOS
        if reply[:n][-len(pattern) :] == pattern:
            return reply[:n], StopReason.STOP
        if n >= max_tokens:
            return reply[:n], StopReason.MAX_TOKENS
        if n >= room:
            return reply[:n], StopReason.CONTEXT
    raise AssertionError("the reply has no end")


@given(
    prompt=prompts,
    seed=st.integers(0, 99),
    drafts=drafts,
    plan=rounds,
    eos=st.sets(st.integers(2, 3), max_size=1),
    pattern=st.lists(st.integers(0, 3), min_size=3, max_size=4),
    max_tokens=st.integers(1, 40),
    room=st.integers(1, 40),
    again=prompts,
)
def test_any_drafts_give_the_plain_reply(
    prompt: list[int],
    seed: int,
    drafts: list[tuple[int, int | None]],
    plan: list[tuple[int, bool]],
    eos: set[int],
    pattern: list[int],
    max_tokens: int,
    room: int,
    again: list[int],
) -> None:
    """Whatever is drafted, verified or pipelined, a reply and its end are those of plain decoding (reference A1, B4).

    The second turn shows that nothing is left behind by the first one's stop.
    """
    reply = reference_reply(prompt, min(max_tokens, room), seed=seed)
    expected = expected_end(reply, frozenset(eos), pattern, max_tokens, room)

    target = HistoryTarget(seed=seed, context_limit=len(prompt) + room)
    session = session_of(target, prompt + reply, drafts, plan)
    watcher = PatternWatcher(pattern)
    done = decode_reply(session, prompt, Stops(frozenset(eos), max_tokens, watcher), slice_tokens=5)

    assert expected == ([token for each in done for token in each.tokens], done[-1].stopped)
    assert prompt + expected[0] == session.tokens
    assert expected[0] == watcher.seen
    assert len(session.tokens) - 1 == target.offset

    left = target.context_limit - len(session.tokens) - len(again)
    if left >= 1:
        history = session.tokens + again
        expected_next = reference_reply(history, min(left, 7), seed=seed)
        decode_reply(session, again, Stops(NEVER, 7))
        assert history + expected_next == session.tokens


@given(prompt=prompts, seed=st.integers(0, 99), drafts=drafts, plan=rounds, n_rounds=st.integers(0, 6))
def test_a_closed_reply_goes_on_where_it_was(
    prompt: list[int], seed: int, drafts: list[tuple[int, int | None]], plan: list[tuple[int, bool]], n_rounds: int
) -> None:
    """A reply that is closed after any round can be taken up again and ends as if it had never been interrupted."""
    expected = reference_reply(prompt, 80, seed=seed)
    target = HistoryTarget(seed=seed)
    session = session_of(target, prompt + expected, drafts, plan)
    list(session.prefill(prompt, 512))
    with closing(session.decode(Stops(NEVER, 80))) as first:
        seen = [token for each in islice(first, n_rounds) for token in each.tokens]
    assert len(session.tokens) - 1 == target.offset
    assert prompt + seen == session.tokens
    if len(seen) < 80:
        list(session.decode(Stops(NEVER, 80 - len(seen))))
    assert prompt + expected == session.tokens


@given(prompt=prompts, seed=st.integers(0, 99), policy=st.sampled_from(POLICIES), max_draft=st.integers(1, 15))
def test_every_policy_gives_the_plain_reply(prompt: list[int], seed: int, policy: str, max_draft: int) -> None:
    """Under every policy, look-ups with ambiguous n-grams give the reply of plain decoding (reference B3, B4)."""
    expected = reference_reply(prompt, 60, vocabulary=2, seed=seed)
    session = policy_session(HistoryTarget(vocabulary=2, seed=seed), policy, max_draft=max_draft)
    decode_reply(session, prompt, Stops(NEVER, 60))
    assert prompt + expected == session.tokens


def test_a_reply_may_fill_the_context_to_the_last_token() -> None:
    """Up to exactly the context limit a drafted reply equals the plain one; then it says why it ends (reference B4)."""
    prompt = [1, 2, 3]
    expected = reference_reply(prompt, 29)
    for policy in POLICIES:
        session = policy_session(HistoryTarget(context_limit=32), policy)
        done = decode_reply(session, prompt, Stops(NEVER, 1000))
        assert prompt + expected == session.tokens
        assert done[-1].stopped is StopReason.CONTEXT


def test_a_full_context_gives_an_empty_reply() -> None:
    """A prompt that fills the context leaves no reply; that is said, not raised."""
    session = policy_session(HistoryTarget(context_limit=3), "graded")
    done = decode_reply(session, [1, 2, 3], Stops(NEVER, 5))
    assert [((), StopReason.CONTEXT)] == [(each.tokens, each.stopped) for each in done]
