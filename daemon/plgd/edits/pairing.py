"""Pairs lines of a sketch with the lines of a text that they repeat, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ("Pair", "pair_lines")

# A line that stands in the text more often than this says little about a place, and would cost much.
_RARE: Final = 16
# Letters and digits of a line that tells anything; a closing bracket does not.
_TELLING: Final = 3
# Characters of a line that count at most: a long line must not outweigh several.
_MOST_WEIGHT: Final = 30.0
# What a leap within a stretch costs, in characters: one short line that both have by chance is not worth it.
_LEAP: Final = 12.0
# What two neighbours in both texts are worth beyond their characters.
_NEIGHBOURS: Final = 4.0
# Filled lines between two shared ones that may be new, or gone, without a leap.
_NEAR: Final = 8

_WORD: Final = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Pair:
    """A line that both have, blanks at its ends apart.

    Attributes:
        stretch: of the sketch.
        line: index in that stretch.
        source: index in the text.
    """

    stretch: int
    line: int
    source: int


@dataclass(slots=True)
class _Chain:
    """The best pairs that end with this one."""

    pair: Pair
    place: int  # of the sketch's line among its filled lines
    score: float
    before: _Chain | None


def pair_lines(source: Sequence[str], stretches: Sequence[Sequence[str]]) -> tuple[Pair, ...]:
    """Return the pairs that weigh most together, in the order of both texts.

    Args:
        source: lines of the text.
        stretches: lines of the sketch; between two stretches, any number of lines was left out.
    """
    filled = [index for index, line in enumerate(source) if line.strip()]
    places: dict[str, list[int]] = {}
    for place, index in enumerate(filled):
        places.setdefault(source[index].strip(), []).append(place)
    anywhere, closed = _Best(len(filled)), _Best(len(filled))
    latest: dict[int, _Chain] = {}  # by place in the source, of the stretch at hand
    for number, lines in enumerate(stretches):
        latest.clear()
        ended: list[tuple[int, _Chain]] = []
        rank = 0
        for line_index, line in enumerate(lines):
            rank += bool(line.strip())
            found = [
                (at, _extend(Pair(number, line_index, filled[at]), at, rank, line, (anywhere, closed), latest))
                for at in _telling(line, places)
            ]
            for at, chain in found:
                anywhere.put(at, chain)
                latest[at] = chain
            ended += found
        for at, chain in ended:
            closed.put(at, chain)
    return tuple(_unwind(anywhere.before(len(filled))))


def _telling(line: str, places: dict[str, list[int]]) -> Sequence[int]:
    found = places.get(line.strip(), ())
    return found if len(found) <= _RARE and len(_WORD.findall(line)) >= _TELLING else ()


def _extend(pair: Pair, at: int, rank: int, line: str, best: tuple[_Best, _Best], latest: dict[int, _Chain]) -> _Chain:
    """Put a pair behind the best chain that may stand before it."""
    anywhere, closed = (each.before(at) for each in best)
    before, score = None, 0.0
    if closed is not None:
        before, score = closed, closed.score
    if anywhere is not None and anywhere.score - _LEAP > score:
        before, score = anywhere, anywhere.score - _LEAP
    for gap in range(1, _NEAR + 1):
        near = latest.get(at - gap)
        if near is not None and near.place < rank:
            is_next = gap == 1 and rank - near.place == 1
            worth = near.score + (_NEIGHBOURS if is_next else 0.0)
            if worth > score:
                before, score = near, worth
    return _Chain(pair, rank, score + min(_MOST_WEIGHT, len(line.strip())), before)


def _unwind(chain: _Chain | None) -> Iterator[Pair]:
    pairs: list[Pair] = []
    while chain is not None:
        pairs.append(chain.pair)
        chain = chain.before
    return reversed(pairs)


class _Best:
    """The best chain that ends before a place, for all places, in logarithmic time (a Fenwick tree of maxima)."""

    def __init__(self, n_places: int) -> None:
        self._tree: list[_Chain | None] = [None] * (n_places + 1)

    def put(self, place: int, chain: _Chain) -> None:
        """Note a chain that ends at a place."""
        at = place + 1
        while at < len(self._tree):
            known = self._tree[at]
            if known is None or known.score < chain.score:
                self._tree[at] = chain
            at += at & -at

    def before(self, place: int) -> _Chain | None:
        """Return the best chain that ends before a place."""
        best: _Chain | None = None
        at = place
        while at:
            found = self._tree[at]
            if found is not None and (best is None or found.score > best.score):
                best = found
            at -= at & -at
        return best
