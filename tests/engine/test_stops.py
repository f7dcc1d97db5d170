"""A reply ends where it should, also in the middle of an accepted block."""

from __future__ import annotations

import pytest

from doubles import ScriptedTarget
from plgd.engine.proposer import NO_DRAFT, Draft
from plgd.engine.stops import Ending, Stops
from plgd.engine.types import StopReason
from session_replies import NEVER, PatternWatcher, decode_reply, session_of

REPLY = [*range(100, 130)]
FULL_DRAFTS: list[tuple[int, int | None]] = [(8, None)]


def test_eos_inside_a_draft_ends_the_reply_there() -> None:
    """A draft is verified up to the EOS token and the reply ends with it (reference B4)."""
    target = ScriptedTarget(REPLY)
    session = session_of(target, [1, *REPLY], FULL_DRAFTS, [(8, False)])
    (last,) = decode_reply(session, [1], Stops(frozenset({105}), 99))
    assert (100, 101, 102, 103, 104, 105) == last.tokens
    assert last.stopped is StopReason.EOS
    assert [6] == target.widths  # five drafted tokens; the EOS itself was the bonus


def test_a_text_stop_inside_an_accepted_block_drops_the_rest() -> None:
    """Tokens that were accepted behind a stop are rolled back, and the next turn starts from the stop."""
    target = ScriptedTarget(REPLY)
    session = session_of(target, [1, *REPLY], FULL_DRAFTS, [(8, False)])
    (last,) = decode_reply(session, [1], Stops(NEVER, 99, PatternWatcher([102, 103])))
    assert (100, 101, 102, 103) == last.tokens
    assert (8, 4) == (last.n_drafted, last.n_accepted)
    assert last.stopped is StopReason.STOP
    assert len(session.tokens) - 1 == target.offset


@pytest.mark.parametrize("max_tokens", range(1, 20))
def test_max_tokens_is_met_exactly_without_spare_work(max_tokens: int) -> None:
    """A reply has exactly max_tokens tokens and no pass is wider than what is left of them."""
    target = ScriptedTarget(REPLY)
    session = session_of(target, [1, *REPLY], FULL_DRAFTS, [(8, False)])
    rounds = decode_reply(session, [1], Stops(NEVER, max_tokens))
    assert REPLY[:max_tokens] == session.tokens[1:]
    assert rounds[-1].stopped is StopReason.MAX_TOKENS
    assert max_tokens == sum(target.widths)


@pytest.mark.parametrize(
    ("stops", "reason"),
    [
        (Stops(frozenset({103}), 4, PatternWatcher([103])), StopReason.EOS),
        (Stops(NEVER, 4, PatternWatcher([103])), StopReason.STOP),
        (Stops(NEVER, 4), StopReason.MAX_TOKENS),
        (Stops(NEVER, 99), StopReason.CONTEXT),
    ],
)
def test_the_most_telling_reason_is_given(stops: Stops, reason: StopReason) -> None:
    """Where one token meets several stops, the reply's own end goes before limits."""
    session = session_of(ScriptedTarget(REPLY, context_limit=5), [1, *REPLY], FULL_DRAFTS, [(8, False)])
    rounds = decode_reply(session, [1], stops)
    assert reason is rounds[-1].stopped
    assert len(session.tokens) == 5


@pytest.mark.parametrize(
    ("tokens", "kept"),
    [((1, 2, 3), (1, 2, 3)), ((1, 9, 3, 9), (1,)), ((9, 1), ())],
)
def test_a_draft_is_cut_before_eos(tokens: tuple[int, ...], kept: tuple[int, ...]) -> None:
    """A draft ends before an EOS token, which comes as the bonus (reference B4)."""
    ending = Ending(Stops(frozenset({9}), 5), n_prompt=3, context_limit=100)
    cut = ending.cut(Draft(tokens, "ngram", 2))
    assert kept == cut.tokens
    assert (cut is NO_DRAFT) == (not kept)


def test_a_reply_of_no_tokens_cannot_be_asked_for() -> None:
    """max_tokens below one is refused."""
    with pytest.raises(ValueError, match="at least 1, not 0"):
        Stops(NEVER, 0)
