"""Step costs: what a round costs by verify width and context length."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Final

import msgspec

__all__ = ("ASSUMED_COSTS", "StepCosts")

# No round takes less than a nanosecond, or days; what is multiplied from such times neither vanishes nor overflows.
SHORTEST_MS: Final = 1e-6
LONGEST_MS: Final = 1e9

# No draft is nearly as long; a bound looks at each width up to the widest.
WIDEST: Final = 4096


@dataclass(frozen=True, slots=True)
class StepCosts:
    """A measured table. Between its points it is read along straight lines, past the last two at their slope.

    Attributes:
        widths: verify widths that were measured, from 1, ascending.
        contexts: context lengths, in tokens, at which they were, ascending.
        costs_ms: per context length, the time of a synchronous round at each width.
        pipelined_ms: per context length, the time of a pipelined plain round.
        max_width: the widest round that may be run; may lie past the last measured width.
        padded: the target fills a block up to the next measured width, so that a width between two costs as much as
            the wider.

    Raises:
        ValueError: the table is not one.
    """

    widths: tuple[int, ...]
    contexts: tuple[int, ...]
    costs_ms: tuple[tuple[float, ...], ...]
    pipelined_ms: tuple[float, ...]
    max_width: int
    padded: bool = False

    def __post_init__(self) -> None:
        """Refuse a table with holes or with times that are none."""
        if not self.widths or self.widths[0] != 1 or list(self.widths) != sorted(set(self.widths)):
            raise ValueError(f"widths must ascend from 1, not {self.widths}")
        if not self.contexts or list(self.contexts) != sorted(set(self.contexts)) or self.contexts[0] < 0:
            raise ValueError(f"context lengths must ascend, not {self.contexts}")
        if len(self.costs_ms) != len(self.contexts) or len(self.pipelined_ms) != len(self.contexts):
            raise ValueError(f"{len(self.contexts)} context lengths need as many rows of costs")
        if any(len(row) != len(self.widths) for row in self.costs_ms):
            raise ValueError(f"{len(self.widths)} widths need as many costs in each row")
        if not all(SHORTEST_MS <= cost <= LONGEST_MS for row in (*self.costs_ms, self.pipelined_ms) for cost in row):
            raise ValueError("costs must be positive times")
        if not 1 <= self.max_width <= WIDEST:
            raise ValueError(f"max_width must be at least 1 and at most {WIDEST}, not {self.max_width}")

    @classmethod
    def from_data(cls, data: Mapping[str, object]) -> StepCosts:
        """Make a table from what `to_data` gave, also after a way through JSON or TOML.

        Raises:
            ValueError: the data are no table.
        """
        if unknown := data.keys() - {field.name for field in fields(cls)}:
            raise ValueError(f"not a table of step costs: it knows no {', '.join(sorted(unknown))}")
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise ValueError(f"not a table of step costs: {error}") from error

    def to_data(self) -> dict[str, object]:
        """Return the table as plain numbers and lists."""
        return asdict(self)

    def round_ms(self, width: int, n_context: int) -> float:
        """Return the time of a synchronous round of this width behind so many tokens."""
        return self._at_context([self._at_width(row, width) for row in self.costs_ms], n_context)

    def plain_ms(self, n_context: int) -> float:
        """Return the time of a pipelined plain round behind so many tokens."""
        return self._at_context(self.pipelined_ms, n_context)

    def candidates(self) -> tuple[int, ...]:
        """Return the widths above 1 that a governor may choose from."""
        return tuple(width for width in self.widths if 1 < width < self.max_width) + (
            (self.max_width,) if self.max_width > 1 else ()
        )

    def _at_width(self, row: Sequence[float], width: int) -> float:
        place = bisect_left(self.widths, width)
        if place < len(self.widths) and (self.padded or self.widths[place] == width):
            return row[place]
        if len(row) == 1:
            return row[0]
        place = min(place, len(row) - 1)
        low, high = row[place - 1], row[place]
        # As at a context: noise may not end below zero.
        high = max(low, high) if width > self.widths[-1] else high
        return _line(width, self.widths[place - 1], self.widths[place], low, high)

    def _at_context(self, values: Sequence[float], n_context: int) -> float:
        if len(values) == 1 or n_context <= self.contexts[0]:
            return values[0]
        place = min(bisect_left(self.contexts, n_context), len(values) - 1)
        low, high = values[place - 1], values[place]
        # Noise may let a longer context look cheaper; carried on for long it would end below zero.
        high = max(low, high) if n_context > self.contexts[-1] else high
        return _line(n_context, self.contexts[place - 1], self.contexts[place], low, high)


def _line(x: float, x0: float, x1: float, y0: float, y1: float) -> float:
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


# Used until a device has been measured, in plain steps: the middle of what is known of Apple, CUDA and CPU devices.
# Online correction gives it the device's unit and shape.
ASSUMED_COSTS: Final = StepCosts(
    widths=(1, 2, 3, 4, 8, 16, 32),
    contexts=(0,),
    costs_ms=((1.0, 1.25, 1.4, 1.6, 2.2, 2.6, 3.4),),
    pipelined_ms=(0.95,),
    max_width=32,
)
