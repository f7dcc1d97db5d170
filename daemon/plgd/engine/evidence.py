"""Chances: how likely a draft is accepted, learnt from what drafts and shadow probes met."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from enum import IntEnum
from itertools import accumulate, islice
from operator import mul
from typing import Final

from plgd.engine.proposer import Draft

__all__ = ("Chances", "Fate")

# Upper bounds of the classes of match length, and the chance assumed in each before anything was seen: a two-token
# match in prose mostly misleads, a long one in code hardly ever does.
MATCH_BOUNDS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
ASSUMED: Final = (0.15, 0.3, 0.45, 0.6, 0.72, 0.8, 0.87, 0.92, 0.94, 0.96, 0.975, 0.985)

# Trials that the assumption, and what was seen under any fate, weigh as much as.
ASSUMED_WEIGHT: Final = 3.0
ANY_FATE_WEIGHT: Final = 4.0

# What surprises of shorter matches leave of the chance of a longer one, at the least.
MIN_CHANCE: Final = 0.05

# How much of what a cell knows is kept when it learns more.
KEPT: Final = 0.95

# Which class a match length belongs to, for every length that can occur.
CLASS_OF: Final = tuple(bisect_left(MATCH_BOUNDS, length) for length in range(256))


class Fate(IntEnum):
    """What became of the last proposal that was put to the test."""

    MISSED = 0
    LANDED = 1
    WHOLE = 2


class Chances:
    """The chance, position by position, that a draft goes on being accepted.

    A draft read behind m agreeing tokens has, once its first i tokens are accepted, m + i agreeing tokens behind it.
    So one table of chances by match length serves every position of every draft. It is kept per proposer and per fate
    of the proposal before, since text that copies goes on copying: a cell is a Beta distribution, decayed as it
    learns, whose prior is the cell of any fate, whose prior in turn is an assumption.

    A draft that brings its own chances is believed, as its proposer knows more than its name tells, but only as far as
    the first tokens of that proposer's drafts have landed as promised. (How far the rest lands varies so much that a
    few short landings would say nothing about the next.)
    """

    def __init__(self) -> None:
        self._fate = Fate.LANDED
        # (proposer, fate or None for any) -> [accepted, refused] per class of match length.
        self._cells: dict[tuple[str, Fate | None], list[list[float]]] = {}
        # proposer -> [first tokens landed, first tokens promised], of drafts with their own chances.
        self._promises: dict[str, list[float]] = {}

    @property
    def fate(self) -> Fate:
        """What became of the last proposal."""
        return self._fate

    def survival(self, draft: Draft) -> Iterator[float]:
        """Yield, for each position of a draft, the chance that it and all before it are accepted."""
        if draft.chances:
            landed, promised = self._promises.get(draft.proposer, (0.0, 0.0))
            trust = min((landed + ASSUMED_WEIGHT) / (promised + ASSUMED_WEIGHT), 1.0)
            yield from islice(accumulate(draft.chances, mul, initial=trust), 1, None)
            return
        chances = self._by_class(draft.proposer, self._fate)
        chance = 1.0
        for match_length in range(draft.match_length, draft.match_length + len(draft.tokens)):
            chance *= chances[CLASS_OF[match_length] if match_length < len(CLASS_OF) else -1]
            yield chance

    def observe(self, draft: Draft, n_tested: int, n_accepted: int, fate: Fate) -> None:
        """Learn from a draft.

        Args:
            draft: the proposal.
            n_tested: how many of its tokens were to be compared with the target's.
            n_accepted: how many agreed before the first that did not.
            fate: what had become of the proposal before, when this one was made.
        """
        if n_accepted >= n_tested:
            self._fate = Fate.WHOLE
        else:
            self._fate = Fate.LANDED if n_accepted else Fate.MISSED
        if draft.chances:
            promise = self._promises.setdefault(draft.proposer, [0.0, 0.0])
            promise[0] = KEPT * promise[0] + min(n_accepted, 1)
            promise[1] = KEPT * promise[1] + draft.chances[0]
            return
        trials: dict[int, list[float]] = {}
        for position in range(min(n_accepted + 1, n_tested)):
            match_length = draft.match_length + position
            place = CLASS_OF[match_length] if match_length < len(CLASS_OF) else len(MATCH_BOUNDS)
            trials.setdefault(place, [0.0, 0.0])[position >= n_accepted] += 1.0
        for key in ((draft.proposer, fate), (draft.proposer, None)):
            cells = self._cells.setdefault(key, [[0.0, 0.0] for _ in ASSUMED])
            for place, (accepted, refused) in trials.items():
                cell = cells[place]
                cell[0] = KEPT * cell[0] + accepted
                cell[1] = KEPT * cell[1] + refused

    def _by_class(self, proposer: str, fate: Fate) -> list[float]:
        """Return the chance per class of match length, most of it from the cells that have seen the most."""
        chances = _chained(self._cells.get((proposer, None)))
        cells = self._cells.get((proposer, fate))
        if cells is None:
            return chances
        return [
            _mean(accepted, refused, prior, ANY_FATE_WEIGHT)
            for (accepted, refused), prior in zip(cells, chances, strict=True)
        ]


def _chained(cells: list[list[float]] | None) -> list[float]:
    """Update the assumed chances, each class's surprise being expected of the next longer one as well."""
    if cells is None:
        return list(ASSUMED)
    chances = []
    surprise = 1.0  # refusals met, in refusals assumed
    for (accepted, refused), assumed in zip(cells, ASSUMED, strict=True):
        expected = max(1.0 - surprise * (1.0 - assumed), MIN_CHANCE)
        chance = _mean(accepted, refused, expected, ASSUMED_WEIGHT)
        surprise = (1.0 - chance) / (1.0 - assumed)
        chances.append(chance)
    return chances


def _mean(accepted: float, refused: float, prior: float, weight: float) -> float:
    return (accepted + weight * prior) / (accepted + refused + weight)
