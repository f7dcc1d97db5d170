"""The `graded` policy: draft about twice what landed lately, pause when nothing lands."""

from __future__ import annotations

from math import floor
from typing import Final

from plgd.engine.proposer import Draft
from plgd.engine.stats import GovernorCounts
from plgd.engine.types import Outcome

__all__ = ("GradedGovernor",)

MISSES_BEFORE_PAUSE: Final = 3
MIN_PAUSE: Final = 4
MAX_PAUSE: Final = 32


class GradedGovernor:
    """Grades the draft by the recent mean of accepted tokens; tuned on an Apple M4 Pro.

    Rules and constants of mlxcel's graded policy. After three drafted rounds in a row that land nothing it pauses for
    4 rounds, then 8, 16, 32; a round that lands anything takes it back to 4.

    Args:
        max_draft: most tokens in one draft.
    """

    policy: Final = "graded"
    pipeline_after: Final = 2

    def __init__(self, max_draft: int) -> None:
        self.counts = GovernorCounts()
        self._max_draft = max_draft
        self._mean_accepted = float(max_draft)
        self._misses = 0
        self._pause_left = 0
        self._next_pause = MIN_PAUSE

    def limit(self) -> int:
        """Return the most tokens worth proposing now."""
        if self._pause_left:
            return 0
        return min(max(floor(2 * self._mean_accepted + 0.5) + 2, 1), self._max_draft)

    def choose(self, draft: Draft, n_history: int, *, in_flight: bool) -> int:  # noqa: ARG002 - takes every draft
        """Verify all that was proposed."""
        return len(draft.tokens)

    def observe(self, outcome: Outcome) -> None:
        """Learn from a round."""
        if not outcome.n_drafted:
            if self._pause_left:
                self._pause_left -= 1
                self.counts.n_paused_rounds += 1
            return
        self._mean_accepted = 0.5 * self._mean_accepted + 0.5 * outcome.n_accepted
        if outcome.n_accepted:
            self._misses = 0
            self._next_pause = MIN_PAUSE
            return
        self._misses += 1
        if self._misses == MISSES_BEFORE_PAUSE:
            self._misses = 0
            self.counts.n_pauses += 1
            self._pause_left = self._next_pause
            self._next_pause = min(2 * self._next_pause, MAX_PAUSE)
