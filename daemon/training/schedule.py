"""The learning rate, by the share of the time that is spent: a run always ends on time, however fast the machine is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

__all__ = ("WARM_UP_STEPS", "Schedule")

WARM_UP_STEPS: Final = 60


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cosine from the peak to zero, which several runs may share.

    Attributes:
        peak: the highest learning rate.
        begins_at: when the steps began, in seconds.
        ends_at: when they must end.
        part: the number of this run, from 1, and how many runs the cosine stretches over.
    """

    peak: float
    begins_at: float
    ends_at: float
    part: tuple[int, int] = (1, 1)

    def progress(self, now: float) -> float:
        """Return the share of this run's time that is spent; at least 1 when it is over."""
        return (now - self.begins_at) / max(self.ends_at - self.begins_at, 1e-9)

    def rate(self, progress: float, n_steps: int) -> float:
        """Return the learning rate after a share of this run's time and a number of its steps.

        Every run warms up, since the optimizer's memory begins anew.
        """
        number, n_parts = self.part
        overall = min((number - 1 + progress) / n_parts, 1.0)
        warmth = min(1.0, (n_steps + 1) / WARM_UP_STEPS)
        return self.peak * warmth * (1.0 + math.cos(math.pi * overall)) / 2.0
