"""Policies go by name and refuse what they cannot do."""

from __future__ import annotations

import pytest

from doubles import HistoryTarget, ScriptedTarget
from plgd.engine.governor import POLICIES, make_governor, make_proposer
from plgd.engine.stops import Stops
from session_replies import NEVER, decode_reply, policy_session


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_has_its_name(policy: str) -> None:
    """A governor tells the policy it was made for."""
    assert policy == make_governor(policy).policy


@pytest.mark.parametrize(
    ("policy", "max_draft", "message"),
    [
        ("graded", 65, "1 to 64"),
        ("gated", -1, "1 to 64"),
        ("ds4", 16, "1 to 15"),
        ("adaptive", 7, "no policy is called 'adaptive'; there are"),
    ],
)
def test_bad_options_are_refused(policy: str, max_draft: int, message: str) -> None:
    """An unknown policy and a draft bound out of range are refused in clear words (references A4, B2)."""
    with pytest.raises(ValueError, match=message):
        make_governor(policy, max_draft=max_draft)


@pytest.mark.parametrize(("policy", "widest"), [("graded", 64), ("gated", 64), ("ds4", 15)])
def test_the_bounds_themselves_are_allowed(policy: str, widest: int) -> None:
    """The largest draft of each policy is allowed (references A4, B2)."""
    assert make_governor(policy, max_draft=widest).policy == policy


def test_the_default_draft_is_seven() -> None:
    """Reference policies draft 7 tokens unless told otherwise, a verify width of 8 (references A4, B2)."""
    text = [*range(10, 60)]
    for policy in ("graded", "ds4"):
        target = ScriptedTarget(text)
        decode_reply(policy_session(target, policy, ngram_min=2), [*text, 1, *text[:4]], Stops(NEVER, 30))
        assert max(target.widths) == 8


def test_ds4_looks_up_four_tokens() -> None:
    """The ds4 preset drafts on a match of four tokens and on nothing shorter (reference B1)."""
    proposer = make_proposer("ds4", ngram_min=1, ngram_max=2)
    proposer.extend([7, 1, 2, 3, 50, 9, 1, 2, 3])
    assert proposer.propose(7).tokens == ()
    proposer.extend([50, 9, 1])
    assert (2, 3) == proposer.propose(2).tokens


def test_ds4_never_backs_off() -> None:
    """The ds4 preset drafts whenever it finds a match, whatever became of the last drafts (reference B2)."""
    target = HistoryTarget(vocabulary=2)
    session = policy_session(target, "ds4")
    decode_reply(session, [0, 1] * 6, Stops(NEVER, 400))
    assert session.stats.n_drafted_rounds > 0.8 * session.stats.n_rounds
    assert session.stats.governor.n_pauses == 0


def test_off_is_plain_decoding() -> None:
    """The policy `off` asks for no proposal and runs one token a pass (references A4, A8)."""
    target = HistoryTarget(vocabulary=2)
    session = policy_session(target, "off")
    decode_reply(session, [0, 1] * 6, Stops(NEVER, 50))
    assert {1: 50} == session.stats.widths
    assert session.stats.n_drafted == 0
