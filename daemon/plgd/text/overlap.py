"""What two sequences begin and end with in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ("Splice", "common_prefix", "find_splice")

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class Splice:
    """The one stretch by which two texts differ.

    Attributes:
        start: where it begins in both.
        old_end: where it ends in the old text.
        new_end: where it ends in the new text.
    """

    start: int
    old_end: int
    new_end: int


def common_prefix(old: Sequence[ItemT], new: Sequence[ItemT]) -> int:
    """Count the items that both begin with.

    Halves are compared as slices, so the work is done by C, and the whole costs two comparisons of it.
    """
    low, high = 0, min(len(old), len(new)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle
    return low


def find_splice(old: str, new: str) -> Splice | None:
    """Return the shortest stretch that turns the old text into the new one when it is replaced; None for equal ones."""
    if old == new:
        return None
    # As `common_prefix`, but only one of the texts is sliced: a keystroke in a long text spends its time on copies.
    start, high = 0, min(len(old), len(new)) + 1
    while high - start > 1:
        middle = (start + high) // 2
        if old.startswith(new[start:middle], start):
            start = middle
        else:
            high = middle
    low, high = 0, min(len(old), len(new)) - start + 1
    while high - low > 1:
        middle = (low + high) // 2
        if old.startswith(new[len(new) - middle : len(new) - low], len(old) - middle):
            low = middle
        else:
            high = middle
    return Splice(start, len(old) - low, len(new) - low)
