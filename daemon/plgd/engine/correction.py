"""Live costs: the table of step costs, corrected by the rounds as they are measured."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

from plgd.engine.cost import StepCosts
from plgd.engine.types import Outcome

__all__ = ("Company", "LiveCosts", "Ratio")

# Weight of a new measurement, and how far one may lie from what was expected: a hiccup moves a cost by a few percent.
RATE: Final = 0.1
MAX_SURPRISE: Final = 2.0

# Measurements of a width class that weigh as much as those of its whole kind.
TRUST: Final = 2.0

# The least that a pipelined round can cost of a synchronous one, should measurements contradict each other.
SHORTEST_SHARE: Final = 0.5

# Costs change slowly with the context and by correction; so many tokens share one reading of the table.
CONTEXT_STEP: Final = 64


@dataclass(slots=True, eq=False)
class Company:
    """The other rows of a turn, which run their passes whatever a round does.

    Attributes:
        width: tokens that they feed in a pass, all together.
        n_tokens: tokens that they commit with it.
        ratio: measured over tabled time of such passes.
        n_rounds: rounds of the turn so far, of all rows.
        n_committed: tokens that these committed.
    """

    width: int
    n_tokens: float
    ratio: float
    n_rounds: int = 0
    n_committed: int = 0


class LiveCosts:
    """Prices of rounds on this device, now.

    A measured round moves the ratio of measured to tabled time of its width class, exponentially weighted. A class
    that was measured little leans on its kind, plain or drafted, and a kind that never was on the other: a device
    that is throttled slows all widths together, one whose kernels disappoint does so at many widths, and a table in
    other units is brought to this device's by its first round.

    In company, a round's price is that of the whole pass that it shares, the others' tokens included; and nothing is
    learnt from its time, most of which is theirs.

    Args:
        table: the step costs to begin with.

    Attributes:
        table: the same.
        company: the other rows of the turn that goes on; None when a round is alone.
    """

    def __init__(self, table: StepCosts) -> None:
        self.table = table
        self.company: Company | None = None
        # One class per measured width and, last, one for pipelined plain rounds.
        self._classes = [Ratio() for _ in range(len(table.widths) + 1)]
        self._plain = Ratio()
        self._drafted = Ratio()
        self._prices: tuple[tuple[int, Company | None], list[tuple[int, float]], float, float] | None = None

    @property
    def is_measured(self) -> bool:
        """Whether a round was measured, so that prices are in this device's milliseconds whatever the table's unit."""
        return bool(self._plain.n_measured + self._drafted.n_measured)

    def prices(self, n_context: int) -> tuple[list[tuple[int, float]], float, float]:
        """Return (width, ms) for each candidate width, ms of a synchronous plain round, ms of a pipelined one."""
        key = (n_context // CONTEXT_STEP, self.company)
        if self._prices is None or self._prices[0] != key:
            n_context = key[0] * CONTEXT_STEP
            priced = [(width, self.round_ms(width, n_context)) for width in self.table.candidates()]
            self._prices = (key, priced, self.round_ms(1, n_context), self.plain_ms(n_context))
        return self._prices[1:]

    def round_ms(self, width: int, n_context: int) -> float:
        """Return the expected time of a synchronous round, in company that of the pass that it shares."""
        if self.company is None:
            return self.alone_ms(width, n_context)
        return self.alone_ms(self.company.width + width, n_context) * self.company.ratio

    def plain_ms(self, n_context: int) -> float:
        """Return the expected time of a pipelined plain round, in company that of the pass that it shares."""
        plain_ms = self.table.plain_ms(n_context) * self._ratio(len(self._classes) - 1)
        if self.company is None:
            return plain_ms
        # The host's part of a round is the same, but it is one pass for all.
        bubble_ms = max(0.0, self.alone_ms(1, n_context) - plain_ms)
        shared_ms = self.round_ms(1, n_context)
        return max(shared_ms - bubble_ms, SHORTEST_SHARE * shared_ms)

    def alone_ms(self, width: int, n_context: int) -> float:
        """Return the expected time of a synchronous round without company."""
        return self.table.round_ms(width, n_context) * self._ratio(self._class_of(width))

    def observe(self, outcome: Outcome) -> None:
        """Learn from a measured round.

        A round says something about one price only if it ran one pass: the first of a pipeline still waits for its
        own, and one that ends a pipeline waits for two.
        """
        if self.company is not None:
            self.company.n_rounds += 1
            self.company.n_committed += len(outcome.tokens)
            return
        if outcome.elapsed_ms is None or outcome.pipelined != outcome.in_flight:
            return
        if outcome.pipelined:
            place, tabled_ms = len(self._classes) - 1, self.table.plain_ms(outcome.n_history)
        else:
            width = outcome.n_drafted + 1
            place, tabled_ms = self._class_of(width), self.table.round_ms(width, outcome.n_history)
        measured = outcome.elapsed_ms / tabled_ms
        kind = self._kind(place)
        if not kind.n_measured:
            self._prices = None  # they may be in other units
        if self.is_measured:
            measured = _bounded(measured, self._ratio(place))
        kind.learn(measured)
        self._classes[place].learn(measured)

    def _class_of(self, width: int) -> int:
        return min(bisect_left(self.table.widths, width), len(self.table.widths) - 1)

    def _kind(self, place: int) -> Ratio:
        return self._plain if place in (0, len(self._classes) - 1) else self._drafted

    def _ratio(self, place: int) -> float:
        own, kind = self._classes[place], self._kind(place)
        if not kind.n_measured:
            kind = self._plain if kind is self._drafted else self._drafted
        return (own.n_measured * own.value + TRUST * kind.value) / (own.n_measured + TRUST)


class Ratio:
    """Measured over tabled time; at first the mean of what was measured, later exponentially weighted.

    Args:
        value: what is assumed before the first measurement.
    """

    def __init__(self, value: float = 1.0) -> None:
        self.value = value
        self.n_measured = 0

    def learn(self, measured: float) -> None:
        """Take in a measurement."""
        self.n_measured += 1
        self.value += max(RATE, 1.0 / self.n_measured) * (measured - self.value)

    def learn_bounded(self, measured: float) -> None:
        """Take in a measurement that may be a hiccup."""
        self.learn(_bounded(measured, self.value) if self.n_measured else measured)


def _bounded(measured: float, expected: float) -> float:
    return min(max(measured, expected / MAX_SURPRISE), expected * MAX_SURPRISE)
