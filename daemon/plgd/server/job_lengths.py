"""How long jobs took lately, so that a client that is turned away knows when to come again."""

from __future__ import annotations

from collections import deque
from typing import Final

__all__ = ("JobLengths",)

# So many jobs are remembered: enough to even out a long one, few enough to follow another kind of work.
_N_REMEMBERED: Final = 32
# What is told while nothing was measured, and the bounds of what is told: a client is not to hammer or to give up.
_UNKNOWN_S: Final = 1.0
_SHORTEST_S: Final = 0.1
_LONGEST_S: Final = 60.0


class JobLengths:
    """Seconds from the first step of a job to its end."""

    def __init__(self) -> None:
        self._lengths_s: deque[float] = deque(maxlen=_N_REMEMBERED)

    def note(self, length_s: float) -> None:
        """Remember how long a job took."""
        self._lengths_s.append(length_s)

    def next_end_s(self, n_running: int) -> float:
        """Return the seconds until one of so many running jobs ends, by the average so far."""
        if not self._lengths_s:
            return _UNKNOWN_S
        mean_s = sum(self._lengths_s) / len(self._lengths_s)
        return round(min(max(mean_s / max(n_running, 1), _SHORTEST_S), _LONGEST_S), 1)
