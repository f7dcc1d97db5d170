"""The last gate: what drafting was expected to gain is nothing against what it was measured to gain."""

from __future__ import annotations

from typing import Final

__all__ = ("LastGate",)

# Drafted rounds that must have been measured before the gate moves, and how much older rounds count at each new one.
WINDOW: Final = 16
KEPT: Final = 1.0 - 1.0 / (2 * WINDOW)

# It narrows when drafting costs this much of plain decoding per token, and opens when it costs that little.
NARROWS_AT: Final = 1.0
OPENS_AT: Final = 0.9

# Gains that are asked of a draft before it is verified, step by step.
REQUIRED_GAINS: Final = (1.0, 1.3, 1.7, 2.5, 4.0)

# A single measurement counts as at most this many times what was expected: a hiccup is no evidence.
MAX_SURPRISE: Final = 4.0


class LastGate:
    """Compares measured milliseconds per committed token, drafted against plain, over a window of rounds.

    Once a whole window of drafted rounds was no faster than plain decoding, more expected gain is asked of a draft,
    in steps; once a whole window was clearly faster, a step less. Between the two marks nothing moves, and each move
    begins a new window, so no single round can decide.
    """

    def __init__(self) -> None:
        self._level = 0
        self._n_drafted = 0
        self._drafted_ms = 0.0
        self._drafted_tokens = 0.0
        self._plain_ms = 0.0
        self._n_plain = 0.0

    @property
    def required_gain(self) -> float:
        """How many times as fast as plain decoding a draft must be expected to be."""
        return REQUIRED_GAINS[self._level]

    def observe_plain(self, elapsed_ms: float, expected_ms: float) -> None:
        """Take in a measured plain round."""
        self._plain_ms = KEPT * self._plain_ms + min(elapsed_ms, MAX_SURPRISE * expected_ms)
        self._n_plain = KEPT * self._n_plain + 1.0

    def observe_drafted(self, n_tokens: int, elapsed_ms: float, expected_ms: float, plain_ms: float) -> None:
        """Take in a measured drafted round.

        Args:
            n_tokens: tokens that it committed.
            elapsed_ms: its time.
            expected_ms: the time it was expected to take.
            plain_ms: the expected time of a plain round, used while too few were measured.
        """
        self._drafted_ms = KEPT * self._drafted_ms + min(elapsed_ms, MAX_SURPRISE * expected_ms)
        self._drafted_tokens = KEPT * self._drafted_tokens + n_tokens
        self._n_drafted += 1
        if self._n_drafted < WINDOW:
            return
        if self._n_plain >= 1.0:
            share = min(self._n_plain / WINDOW, 1.0)
            plain_ms = share * self._plain_ms / self._n_plain + (1.0 - share) * plain_ms
        ratio = self._drafted_ms / self._drafted_tokens / plain_ms
        if ratio > NARROWS_AT and self._level < len(REQUIRED_GAINS) - 1:
            self._move(1)
        elif ratio < OPENS_AT and self._level > 0:
            self._move(-1)

    def _move(self, by: int) -> None:
        self._level += by
        self._n_drafted = 0
        self._drafted_ms = self._drafted_tokens = 0.0
