"""A target may cut a draft: what it cut counts as never drafted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from doubles import HistoryTarget, PlannedGovernor, PlannedProposer
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from session_replies import NEVER, decode_reply, policy_session, reference_reply

PROMPT = [0, 1, 0, 1, 0, 1]
N_REPLY = 25


class CuttingTarget(HistoryTarget):
    """Takes no more than `most` tokens of a draft."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def verify(self, draft: Sequence[int]) -> Sequence[int]:
        return super().verify(draft[: self._most])


@pytest.mark.parametrize("most", [0, 1, 2])
@pytest.mark.parametrize("policy", ["cost", "graded", "gated", "ds4", "off"])
def test_a_cut_draft_changes_no_token(policy: str, most: int) -> None:
    """Whatever a target cuts, the reply is the same."""
    session = policy_session(CuttingTarget(most), policy)
    decode_reply(session, PROMPT, Stops(NEVER, N_REPLY))
    assert PROMPT + reference_reply(PROMPT, N_REPLY) == session.tokens


def test_cut_tokens_count_nowhere() -> None:
    """Tokens that were cut are neither accepted nor rejected, and such a round's time teaches the governor nothing."""
    history = PROMPT + reference_reply(PROMPT, N_REPLY)
    governor = PlannedGovernor([(5, False)])
    session = Session(CuttingTarget(2), PlannedProposer(history, [(5, None)]), governor)
    rounds = decode_reply(session, PROMPT, Stops(NEVER, 6))
    assert [(2, 2), (2, 2)] == [(each.n_drafted, each.n_accepted) for each in rounds]
    assert (4, 4, {3: 2}) == (session.stats.n_drafted, session.stats.n_accepted, session.stats.widths)
    assert [None, None] == [outcome.elapsed_ms for outcome in governor.outcomes]
