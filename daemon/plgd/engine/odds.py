"""Odds: how likely the next token of a hypothesis is right, learnt while the reply is written."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import exp
from typing import Final, NamedTuple

from plgd.engine.hypothesis import Hypothesis
from plgd.engine.odds_start import START, StartWeights
from plgd.engine.overlay import Patch

__all__ = ("MAX_GRADE", "N_STREAKS", "RUN_STREAK", "Odds", "Traits")

# Upper bounds of the classes of streak length. From RUN on a hypothesis is a run, whatever it came from.
STREAK_BOUNDS: Final = (0, 1, 2, 3, 5, 8, 15, 31, 63, 127)
N_STREAKS: Final = len(STREAK_BOUNDS) + 1
RUN: Final = 7
RUN_STREAK: Final = STREAK_BOUNDS[RUN - 1] + 1
STREAK_CLASS: Final = tuple(bisect_left(STREAK_BOUNDS, streak) for streak in range(256))

# Upper bounds of the classes of age: tokens written since the reply left the source. It matters to young streaks only.
AGE_BOUNDS: Final = (1, 2, 4, 8)
YOUNG: Final = 4

# Bounds of the classes of the share of late tokens that were foretold, and the weight of one token in that share.
SHARE_BOUNDS: Final = (0.3, 0.5, 0.7, 0.85)
SHARE_RATE: Final = 1 / 24
START_SHARE: Final = 0.8

# A better grade of a patch says nothing more.
MAX_GRADE: Final = 3

# Steps of learning, and how far the bias may go: it may take nearly all belief, but not give much.
CELL_RATE: Final = 0.05
BIAS_RATE: Final = 0.08
LOWEST_BIAS: Final = -3.0
HIGHEST_BIAS: Final = 1.0


class Traits(NamedTuple):
    """What the odds of one token depend on: classes, as indices into the weights.

    Attributes:
        row: of the weights by streak: the hypothesis's origin, or the row of runs, or that of patches.
        column: class of the streak, or grade of the patch.
        age: class of the age; None for one that no longer matters.
        is_weak: it is neither a run nor a patch.
    """

    row: int
    column: int
    age: int | None
    is_weak: bool


class Odds:
    """A logistic model of whether a token comes true: a sum of weights, one for each trait of the hypothesis.

    The weights to begin with were fitted to replays of release pairs and of replies that rewrite nothing. Every
    hypothesis teaches, also those that were not believed, so the model adapts within a few dozen tokens, at no cost in
    passes. The bias moves fastest: it takes belief from all short streaks at once when they mislead, as in text made
    of a few tokens in ever new order.
    """

    def __init__(self, start: StartWeights = START) -> None:
        self.cells = [list(row) for row in (*start.by_origin, start.by_run, start.by_patch)]
        self.by_age = list(start.by_age)
        self.by_share = list(start.by_share)
        self._run_row = len(start.by_origin)
        self._patch_row = self._run_row + 1
        self.begin()

    def begin(self) -> None:
        """Forget what is known of a reply alone: how much of it was foretold, and the bias."""
        self._share = START_SHARE
        self._bias = 0.0

    @property
    def share(self) -> int:
        """The class of the share of late tokens that were foretold."""
        return bisect_right(SHARE_BOUNDS, self._share)

    def traits(self, hypothesis: Hypothesis, age: int, patch: Patch | None, n_ahead: int = 0) -> Traits:
        """Return the traits of a token that a hypothesis foretells.

        Args:
            hypothesis: as it stands.
            age: tokens written since the reply left the source.
            patch: the patch whose first token it is; None for any other token.
            n_ahead: tokens between; they are taken to come true.
        """
        if patch is not None:
            return Traits(self._patch_row, min(patch.grade, MAX_GRADE), None, is_weak=False)
        streak = hypothesis.streak + n_ahead
        column = STREAK_CLASS[streak] if streak < len(STREAK_CLASS) else N_STREAKS - 1
        if column >= RUN:
            return Traits(self._run_row, column - RUN, None, is_weak=False)
        is_young = column < YOUNG and not n_ahead
        return Traits(hypothesis.origin, column, bisect_left(AGE_BOUNDS, age) if is_young else None, is_weak=True)

    def score(self, traits: Traits) -> float:
        """Return the log-odds that a token of these traits comes true."""
        score = self.cells[traits.row][traits.column] + self.by_share[self.share]
        if traits.age is not None:
            score += self.by_age[traits.age]
        return score + self._bias if traits.is_weak else score

    def chance(self, traits: Traits) -> float:
        """Return the chance that a token of these traits comes true."""
        return 1.0 / (1.0 + exp(-self.score(traits)))

    def chances_ahead(self, hypothesis: Hypothesis, age: int, n_ahead: int, n_tokens: int) -> list[float]:
        """Return the chances of the tokens behind the next `n_ahead` ones, outside patches."""
        chances: list[float] = []
        end = n_ahead + n_tokens
        while n_ahead < end:
            chance = self.chance(self.traits(hypothesis, age, None, n_ahead))
            streak = hypothesis.streak + n_ahead
            place = bisect_left(STREAK_BOUNDS, streak)
            # All tokens of a class have the same chance; only the first token of all has an age.
            n_alike = STREAK_BOUNDS[place] - streak + 1 if place < len(STREAK_BOUNDS) else end
            n_alike = min(n_alike if n_ahead else 1, end - n_ahead)
            chances += [chance] * n_alike
            n_ahead += n_alike
        return chances

    def learn_run(self, streak: int, n_tokens: int) -> None:
        """Learn from tokens of a run that came true and were believed.

        Args:
            streak: tokens that agreed before them.
            n_tokens: how many they are.
        """
        cells, by_share, share = self.cells[self._run_row], self.by_share, self._share
        for agreed in range(streak, streak + n_tokens):
            column = STREAK_CLASS[agreed] - RUN if agreed < len(STREAK_CLASS) else N_STREAKS - 1 - RUN
            of_share = by_share[-1] if share >= SHARE_BOUNDS[-1] else by_share[bisect_right(SHARE_BOUNDS, share)]
            cells[column] += CELL_RATE / (1.0 + exp(cells[column] + of_share))
            share += SHARE_RATE * (1.0 - share)
        self._share = share

    def learn(self, traits: Traits, *, came_true: bool, was_believed: bool) -> None:
        """Learn from one token that a hypothesis foretold.

        Args:
            traits: of the token.
            came_true: whether the reply has it.
            was_believed: it was the likeliest; the bias learns from these alone.
        """
        surprise = came_true - self.chance(traits)
        self.cells[traits.row][traits.column] += CELL_RATE * surprise
        if was_believed and traits.is_weak:
            self._bias = min(max(self._bias + BIAS_RATE * surprise, LOWEST_BIAS), HIGHEST_BIAS)

    def count(self, *, foretold: bool) -> None:
        """Take in whether the believed hypothesis foretold the reply's next token."""
        self._share += SHARE_RATE * (foretold - self._share)
