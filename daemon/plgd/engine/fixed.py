"""The policies that learn nothing: `off` never drafts, `ds4` always drafts as much as it may."""

from __future__ import annotations

from typing import Final

from plgd.engine.proposer import Draft
from plgd.engine.stats import GovernorCounts
from plgd.engine.types import Outcome

__all__ = ("FixedGovernor",)


class FixedGovernor:
    """Drafts the same number of tokens in every round, without back-off.

    Args:
        policy: the name it goes by.
        n_tokens: tokens in one draft; 0 is plain decoding.
    """

    pipeline_after: Final = 2

    def __init__(self, policy: str, n_tokens: int) -> None:
        self.policy = policy
        self.counts = GovernorCounts()
        self._n_tokens = n_tokens

    def limit(self) -> int:
        """Return the fixed number of tokens."""
        return self._n_tokens

    def choose(self, draft: Draft, n_history: int, *, in_flight: bool) -> int:  # noqa: ARG002 - takes every draft
        """Verify all that was proposed."""
        return len(draft.tokens)

    def observe(self, outcome: Outcome) -> None:
        """Learn nothing."""
