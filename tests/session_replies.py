"""What engine tests share: a reply reckoned without an engine, and a reply decoded by one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from doubles import HistoryTarget, PlannedGovernor, PlannedProposer
from plgd.engine.governor import Governor, make_governor, make_proposer
from plgd.engine.proposer import Proposer
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.engine.target import Target
from plgd.engine.types import Round

__all__ = ("NEVER", "PatternWatcher", "decode_reply", "policy_session", "reference_reply", "session_of")

NEVER = frozenset({-1})


class PatternWatcher:
    """Ends a reply when its last tokens are a pattern."""

    def __init__(self, pattern: Sequence[int]) -> None:
        self._pattern = list(pattern)
        self.seen: list[int] = []

    def push(self, token: int) -> bool:
        self.seen.append(token)
        return self.seen[-len(self._pattern) :] == self._pattern


def reference_reply(prompt: Sequence[int], n_tokens: int, *, vocabulary: int = 4, seed: int = 0) -> list[int]:
    """Reckon a HistoryTarget's reply the slow way: a fresh target is fed the whole history for every token."""
    history = list(prompt)
    for _ in range(n_tokens):
        target = HistoryTarget(vocabulary=vocabulary, seed=seed)
        target.prefill(history)
        history.append(target.verify(())[0])
    return history[len(prompt) :]


def session_of(
    target: Target,
    history: Sequence[int] = (),
    drafts: Sequence[tuple[int, int | None]] = (),
    rounds: Sequence[tuple[int, bool]] = ((0, False),),
) -> Session:
    """Make a session whose drafts, taken from the history to come, and rounds go as planned."""
    return Session(target, PlannedProposer(history, drafts), PlannedGovernor(rounds))


def policy_session(target: Target, policy: str, *, ngram_min: int = 1, max_draft: int = 0) -> Session:
    """Make a session of a policy, with look-ups down to single tokens, so that small vocabularies draft a lot."""
    proposer: Proposer = make_proposer(policy, ngram_min=ngram_min)
    governor: Governor = make_governor(policy, max_draft=max_draft)
    return Session(target, proposer, governor)


def decode_reply(session: Session, prompt: Sequence[int], stops: Stops, *, slice_tokens: int = 512) -> list[Round]:
    """Prefill a prompt and decode a whole reply."""
    for _ in session.prefill(prompt, slice_tokens):
        pass
    with closing(session.decode(stops)) as rounds:
        return list(rounds)
