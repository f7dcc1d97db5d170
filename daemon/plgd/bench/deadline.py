"""The deadline of a long measurement."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ("Deadline",)

Item = TypeVar("Item")


class Deadline:
    """Ends a measurement once another item as long as the longest so far would not fit.

    Args:
        max_s: seconds from now; None for no end.
        clock: seconds from any start.
    """

    def __init__(self, max_s: float | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends_at = None if max_s is None else clock() + max_s

    def take(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the first item, and others while there is time; what the caller does with one is what it takes."""
        longest_s: float | None = None
        for item in items:
            began_at = self._clock()
            if self._ends_at is not None and longest_s is not None and began_at + longest_s > self._ends_at:
                return
            yield item
            longest_s = max(longest_s or 0.0, self._clock() - began_at)
