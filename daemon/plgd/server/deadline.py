"""When a client no longer waits for an answer."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Self

from plgd.errors import DeadlinePassed

__all__ = ("Deadline",)


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment.

    Attributes:
        at: on the clock of `time.monotonic`, which is the event loop's, too.
        ms: what the client gave, from the arrival of its request.
    """

    at: float
    ms: float

    @classmethod
    def after(cls, received: float, ms: float | None) -> Self | None:
        """Return the deadline of a request that arrived at a moment; None when it has none."""
        return None if ms is None else cls(received + ms / 1000.0, ms)

    def check(self) -> None:
        """Refuse what would begin too late.

        Raises:
            DeadlinePassed: the moment has passed.
        """
        if time.monotonic() >= self.at:
            raise DeadlinePassed.of(self.ms)
