"""A chain of proposers, tried in order."""

from __future__ import annotations

from collections.abc import Sequence

from plgd.engine.proposer import NO_DRAFT, Draft, Proposer

__all__ = ("ProposerChain",)


class ProposerChain:
    """Proposes what the first of several proposers does that knows anything.

    Args:
        proposers: the most trusted first.
    """

    def __init__(self, *proposers: Proposer) -> None:
        self._proposers = proposers

    def extend(self, tokens: Sequence[int]) -> None:
        """Let every proposer take in tokens that were appended to the history."""
        for proposer in self._proposers:
            proposer.extend(tokens)

    def propose(self, max_tokens: int) -> Draft:
        """Guess up to `max_tokens` tokens that follow the history; `NO_DRAFT` when no proposer knows any."""
        for proposer in self._proposers:
            draft = proposer.propose(max_tokens)
            if draft.tokens:
                return draft
        return NO_DRAFT
