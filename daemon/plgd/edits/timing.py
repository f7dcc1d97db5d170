"""The times of one edit, read from one clock."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ("Timing",)


class Timing:
    """Notes when an edit arrived, began, and got its first and latest tokens.

    Args:
        clock: seconds from any start.
        received: when the request arrived, by the same clock.
    """

    def __init__(self, clock: Callable[[], float], received: float) -> None:
        self._clock = clock
        self._received = received
        self._begun = clock()
        self._first: float | None = None
        self._latest = self._begun
        self._n_first = self._n_tokens = 0

    def note_tokens(self, n_tokens: int) -> None:
        """Note that `n_tokens` more tokens of the reply came just now."""
        self._latest = self._clock()
        self._n_tokens += n_tokens
        if self._first is None:
            self._first, self._n_first = self._latest, n_tokens

    @property
    def n_tokens(self) -> int:
        """Tokens of the reply so far."""
        return self._n_tokens

    @property
    def tokens_per_s(self) -> float:
        """The reply's rate since its first round, whose tokens the prefill paid for; 0 before there is one."""
        seconds = self._latest - self._first if self._first is not None else 0.0
        return (self._n_tokens - self._n_first) / seconds if seconds > 0 else 0.0

    @property
    def queue_ms(self) -> float:
        """From the request's arrival until the work on it began."""
        return 1000.0 * (self._begun - self._received)

    @property
    def ttft_ms(self) -> float:
        """From the request's arrival to the first token; 0 without one."""
        return 1000.0 * (self._first - self._received) if self._first is not None else 0.0

    @property
    def decode_ms(self) -> float:
        """From the first token to the latest."""
        return 1000.0 * (self._latest - self._first) if self._first is not None else 0.0

    @property
    def total_ms(self) -> float:
        """From the request's arrival until now."""
        return 1000.0 * (self._clock() - self._received)
