"""A chain of proposers, tried in order."""

from __future__ import annotations

from collections.abc import Sequence

from plgd.engine.proposer import NO_DRAFT, Draft, Proposer

__all__ = ("ProposerChain",)


class ProposerChain:
    """Proposes what the first of several proposers does that knows anything.

    A proposer takes in the history when it is asked: behind one that knows how the reply goes on, a long prompt costs
    nothing before the first token.

    Args:
        proposers: the most trusted first.
    """

    def __init__(self, *proposers: Proposer) -> None:
        self._waiting: list[tuple[Proposer, list[int]]] = [(proposer, []) for proposer in proposers]

    def extend(self, tokens: Sequence[int]) -> None:
        """Keep tokens that were appended to the history for every proposer."""
        for _, waiting in self._waiting:
            waiting.extend(tokens)

    def propose(self, max_tokens: int) -> Draft:
        """Guess up to `max_tokens` tokens that follow the history; `NO_DRAFT` when no proposer knows any."""
        for proposer, waiting in self._waiting:
            if waiting:
                proposer.extend(waiting)
                waiting.clear()
            draft = proposer.propose(max_tokens)
            if draft.tokens:
                return draft
        return NO_DRAFT
