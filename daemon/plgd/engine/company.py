"""What a round costs in company, when several sequences share a pass, and whether that is faster than taking turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from plgd.engine.correction import Company, LiveCosts, Ratio

__all__ = ("JointCosts", "PassSize")

# Joint passes are given up where they take longer than the rows' own passes, and taken up again where they take this
# much less: between the two marks nothing moves.
GIVES_UP_AT: Final = 1.0
TAKES_UP_AT: Final = 0.9

# While passes run apart, one in so many is joint nevertheless, so that what is known of joint passes does not grow old.
# The daemon asks only after every 17th turn of jobs that take turns.
RETRIES_EVERY: Final = 8

# Weight of a new turn in what the others of a turn feed and commit.
RATE: Final = 0.3


class PassSize(Protocol):
    """What the cost of a pass depends on."""

    @property
    def width(self) -> int:
        """Tokens that it feeds."""
        ...

    @property
    def n_context(self) -> int:
        """Tokens before them."""
        ...


@dataclass(slots=True)
class _Way:
    """How passes of so many rows run now.

    Attributes:
        joint: measured over tabled time of joint passes.
        is_apart: whether they run one by one.
        n_apart: how often they did since the last joint one.
    """

    joint: Ratio
    is_apart: bool = False
    n_apart: int = 0


class JointCosts:
    """Prices of joint passes on this device, now.

    A joint pass is expected to cost what the table says of a pass as wide as all its rows together, times what passes
    of so many rows were measured to cost of that; rows that run apart are measured in the same way. Neither touches
    the prices of rounds alone.

    Args:
        costs: of rounds alone.
    """

    def __init__(self, costs: LiveCosts) -> None:
        self._costs = costs
        self._ways: dict[int, _Way] = {}
        self._apart = Ratio()
        self._width = 0.0
        self._n_tokens = 0.0

    def begin_turn(self, n_rows: int) -> Company:
        """Tell the governors of a turn in what company their rounds are, as far as the last turns say.

        Args:
            n_rows: jobs in the turn.
        """
        way = self._way(n_rows)
        # Rounds that run apart have no company; but whoever computes beside them makes their times useless.
        n_others = 0 if way.is_apart else n_rows - 1
        company = Company(
            width=round(n_others * self._width),
            n_tokens=n_others * self._n_tokens,
            ratio=way.joint.value if n_others else 1.0,
        )
        self._costs.company = company
        return company

    def end_turn(self, company: Company) -> None:
        """Learn what the rows of the turn committed; from here on rounds are alone again."""
        self._costs.company = None
        if company.n_rounds:
            self._n_tokens += RATE * (company.n_committed / company.n_rounds - self._n_tokens)

    def pays(self, passes: Sequence[PassSize]) -> bool:
        """Tell whether passes are to run as one."""
        way = self._way(len(passes))
        self._width += RATE * (sum(each.width for each in passes) / len(passes) - self._width)
        mark = TAKES_UP_AT if way.is_apart else GIVES_UP_AT
        # An assumed table may be in other units: then what was measured of one way says nothing about the other.
        is_known = self._apart.n_measured or self._costs.is_measured
        apart = self._apart.value if is_known else way.joint.value
        way.is_apart = self._joint_ms(passes) * way.joint.value > mark * self._apart_ms(passes) * apart
        way.n_apart = way.n_apart + 1 if way.is_apart else 0
        if way.n_apart < RETRIES_EVERY:
            return not way.is_apart
        way.n_apart = 0
        return True

    def observe(self, passes: Sequence[PassSize], elapsed_ms: float, *, is_joint: bool) -> None:
        """Learn from passes that ran as one, or one by one."""
        if is_joint:
            self._way(len(passes)).joint.learn_bounded(elapsed_ms / self._joint_ms(passes))
        else:
            self._apart.learn_bounded(elapsed_ms / self._apart_ms(passes))

    def _way(self, n_rows: int) -> _Way:
        if n_rows not in self._ways:
            # What passes of fewer rows cost is the best guess.
            fewer = max((n for n in self._ways if n < n_rows), default=0)
            self._ways[n_rows] = _Way(Ratio(self._ways[fewer].joint.value if fewer else 1.0))
        return self._ways[n_rows]

    def _joint_ms(self, passes: Sequence[PassSize]) -> float:
        n_context = sum(each.n_context for each in passes) // len(passes)
        return self._costs.alone_ms(sum(each.width for each in passes), n_context)

    def _apart_ms(self, passes: Sequence[PassSize]) -> float:
        return sum(self._costs.alone_ms(each.width, each.n_context) for each in passes)
