"""Names that are easily taken for each other, such as `check` and `check:js`, or two tests of nearly one name."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise, takewhile
from random import Random
from typing import Final

__all__ = ("among", "resembling")

# Of the shorter name, how much both must have in common at their beginnings; and the fewest letters.
MIN_SHARE: Final = 0.65
MIN_COMMON: Final = 4
# How often a name with one like it is preferred: most changes in a wrong place are made there.
PREFERRED: Final = 0.4


def resembling(names: Collection[str]) -> set[str]:
    """Return the names that begin much like another of them."""
    found = set()
    ordered = sorted(set(names))
    for one, other in pairwise(ordered):  # in order, those most alike are neighbours
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
        if common >= max(MIN_COMMON, MIN_SHARE * min(len(one), len(other))):
            found |= {one, other}
    return found


def among(names: Iterable[str], rng: Random) -> list[str]:
    """Return names in an order to try them in: any, but often those first that resemble another."""
    shuffled = sorted(names)
    rng.shuffle(shuffled)
    if rng.random() < PREFERRED:
        alike = resembling(shuffled)
        shuffled.sort(key=lambda name: name not in alike)
    return shuffled
