"""The `gated` policy: narrow or full drafts, and shadow probes instead of timed pauses."""

from __future__ import annotations

from typing import Final

from plgd.engine.proposer import Draft
from plgd.engine.stats import GovernorCounts
from plgd.engine.types import Outcome

__all__ = ("GatedGovernor",)

NARROW_DRAFT: Final = 2
START_MEAN: Final = 1.0
FULL_AT_MEAN: Final = 1.5
MISSES_BEFORE_PAUSE: Final = 3
CONFIRMING_TOKENS: Final = 2


class GatedGovernor:
    """Drafts 2 tokens or `max_draft`, never between; tuned on a GB10, where widths 5 to 7 cost as much as 8.

    Rules and constants of mlxcel's gated policy. It starts narrow and *on probation*: a round that lands nothing
    pauses at once, until one lands a whole narrow draft; later it takes three such rounds in a row. A pause has no
    length. Paused rounds look up, hold one proposal as a shadow probe and compare it with what plain decoding emits;
    when its first two tokens came true, drafting resumes, narrow and on probation.

    Args:
        max_draft: most tokens in one draft.
    """

    policy: Final = "gated"

    def __init__(self, max_draft: int) -> None:
        self.counts = GovernorCounts()
        self._max_draft = max_draft
        self._narrow = min(NARROW_DRAFT, max_draft)
        self._mean_accepted = START_MEAN
        self._misses = 0
        self._paused = False
        self._on_probation = True
        self._probe: tuple[int, ...] = ()

    @property
    def pipeline_after(self) -> int:
        """A paused governor cannot draft before a probe settles, so the next step may go at once."""
        return 0 if self._paused else 2

    def limit(self) -> int:
        """Return the most tokens worth proposing now."""
        if self._paused:
            return 0 if self._probe else CONFIRMING_TOKENS
        return self._max_draft if self._mean_accepted >= FULL_AT_MEAN else self._narrow

    def choose(self, draft: Draft, n_history: int, *, in_flight: bool) -> int:  # noqa: ARG002 - takes every draft
        """Verify all that was proposed, nothing while paused."""
        return 0 if self._paused else len(draft.tokens)

    def observe(self, outcome: Outcome) -> None:
        """Learn from a round."""
        if self._paused:
            self.counts.n_paused_rounds += 1
            self._check_probe(outcome)
        elif outcome.n_drafted:
            self._learn(outcome.n_accepted)

    def _learn(self, n_accepted: int) -> None:
        self._mean_accepted = 0.5 * self._mean_accepted + 0.5 * n_accepted
        if n_accepted >= self._narrow:
            self._on_probation = False
        if n_accepted:
            self._misses = 0
            return
        self._misses += 1
        if self._on_probation or self._misses == MISSES_BEFORE_PAUSE:
            self._misses = 0
            self._paused = True
            self.counts.n_pauses += 1

    def _check_probe(self, outcome: Outcome) -> None:
        if not self._probe and len(outcome.draft.tokens) >= CONFIRMING_TOKENS:
            self._probe = outcome.draft.tokens[:CONFIRMING_TOKENS]
            self.counts.n_shadow_probes += 1
        if not self._probe:
            return
        if self._probe[0] != outcome.tokens[0]:
            self._probe = ()
            return
        self._probe = self._probe[1:]
        if not self._probe:
            self._resume()

    def _resume(self) -> None:
        self.counts.n_shadow_confirmations += 1
        self._paused = False
        self._on_probation = True
        self._mean_accepted = START_MEAN
