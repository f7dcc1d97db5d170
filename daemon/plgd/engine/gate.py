"""The last gate: what drafting was expected to gain is nothing against what it was measured to gain."""

from __future__ import annotations

from math import inf
from typing import Final

__all__ = ("LastGate",)

# Drafted rounds that must have been measured before the gate moves, and how much older rounds count at each new one.
WINDOW: Final = 16
KEPT: Final = 1.0 - 1.0 / (2 * WINDOW)

# It narrows when drafting costs this much of plain decoding per token, and opens when it costs that little.
NARROWS_AT: Final = 1.0
OPENS_AT: Final = 0.9

# Gains that are asked of a draft before it is verified, step by step. The first is above 1 because the best of many
# estimates is an over-estimate; none reaches the last, which therefore ends by itself after so many rounds.
REQUIRED_GAINS: Final = (1.1, 1.3, 1.7, 2.5, 4.0, inf)
REST: Final = 256

# A single measurement counts as at most this many times what it, or its tokens one by one, were expected to take: a
# hiccup is no evidence.
MAX_SURPRISE: Final = 4.0


class LastGate:
    """Compares measured milliseconds per committed token, drafted against plain, over a window of drafted rounds.

    Once a whole window of drafted rounds was no faster than plain decoding, more expected gain is asked of a draft,
    in steps, until nothing is drafted for a while; once a whole window was clearly faster, a step less. Between the
    two marks nothing moves, and each move begins a new window, so no single round can decide.
    """

    def __init__(self) -> None:
        self._level = 0
        self._n_rounds = 0
        self._elapsed_ms = 0.0
        self._plain_ms = 0.0

    @property
    def required_gain(self) -> float:
        """How many times as fast as plain decoding a draft must be expected to be."""
        return REQUIRED_GAINS[self._level]

    def observe_plain(self) -> None:
        """Take in a plain round; while nothing is drafted, they are what time is told by."""
        if self._level == len(REQUIRED_GAINS) - 1:
            self._n_rounds += 1
            if self._n_rounds == REST:
                self._move(-1)

    def observe_drafted(self, n_tokens: int, elapsed_ms: float, *, expected_ms: float, plain_ms: float) -> None:
        """Take in a measured drafted round.

        Args:
            n_tokens: tokens that it committed.
            elapsed_ms: its time.
            expected_ms: the time it was expected to take.
            plain_ms: the time of a plain round, as lately measured.
        """
        as_plain_ms = n_tokens * plain_ms
        bound_ms = MAX_SURPRISE * max(expected_ms, as_plain_ms)
        self._elapsed_ms = KEPT * self._elapsed_ms + min(elapsed_ms, bound_ms)
        self._plain_ms = KEPT * self._plain_ms + as_plain_ms
        self._n_rounds += 1
        if self._n_rounds < WINDOW:
            return
        ratio = self._elapsed_ms / self._plain_ms
        if ratio > NARROWS_AT and self._level < len(REQUIRED_GAINS) - 1:
            self._move(1)
        elif ratio < OPENS_AT and self._level > 0:
            self._move(-1)

    def _move(self, by: int) -> None:
        self._level += by
        self._n_rounds = 0
        self._elapsed_ms = 0.0
        self._plain_ms = 0.0
