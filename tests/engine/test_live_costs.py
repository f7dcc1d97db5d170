"""Prices follow the device: measured rounds correct the table they began with."""

from __future__ import annotations

import pytest

from plgd.engine.correction import LiveCosts
from plgd.engine.cost import StepCosts
from plgd.engine.proposer import NO_DRAFT
from plgd.engine.types import Outcome

TABLE = StepCosts((1, 4, 16), (0,), ((1.0, 1.5, 2.0),), (0.9,), max_width=16)


def measured(width: int, elapsed_ms: float | None, *, pipelined: bool = False, in_flight: bool = False) -> Outcome:
    """Make a round of a width that took so long."""
    return Outcome(NO_DRAFT, width - 1, 0, (1,), 0, pipelined, in_flight, elapsed_ms)


def test_the_first_round_brings_the_device_s_unit() -> None:
    """One measured round rescales a table in other units, for every width."""
    live = LiveCosts(TABLE)
    assert live.prices(0)[1:] == (1.0, 0.9)
    live.observe(measured(1, 40.0))
    assert live.prices(0)[1:] == (40.0, 36.0)
    assert [40.0, 60.0, 80.0, 36.0] == pytest.approx([live.round_ms(w, 0) for w in (1, 4, 16)] + [live.plain_ms(0)])


def test_a_width_that_costs_more_than_tabled_is_learnt() -> None:
    """When one width keeps costing twice what the table says, its price doubles and plain rounds keep theirs."""
    live = LiveCosts(TABLE)
    for _ in range(60):
        live.observe(measured(1, 1.0))
        live.observe(measured(16, 4.0))
    assert live.round_ms(16, 0) == pytest.approx(4.0, rel=0.1)
    assert live.round_ms(1, 0) == pytest.approx(1.0, rel=0.1)


def test_a_hiccup_moves_a_price_by_little() -> None:
    """A single round that took a hundred times as long as expected does not decide anything."""
    live = LiveCosts(TABLE)
    for _ in range(20):
        live.observe(measured(4, 1.5))
    live.observe(measured(4, 150.0))
    assert live.round_ms(4, 0) == pytest.approx(1.5, rel=0.15)


@pytest.mark.parametrize(
    "outcome",
    [
        measured(1, None),
        measured(1, 9.0, pipelined=True, in_flight=False),  # the first of a pipeline waits for its own pass too
        measured(4, 9.0, in_flight=True),  # waits for the step in flight as well
    ],
)
def test_rounds_that_time_something_else_are_ignored(outcome: Outcome) -> None:
    """Only a round that ran exactly one pass says what that pass costs."""
    live = LiveCosts(TABLE)
    live.observe(outcome)
    assert live.round_ms(1, 0) == 1.0


def test_prices_name_every_candidate() -> None:
    """Prices are told for each width to choose from, and for plain rounds of both kinds."""
    priced, synchronous_ms, plain_ms = LiveCosts(TABLE).prices(0)
    assert ([(4, 1.5), (16, 2.0)], 1.0, 0.9) == (priced, synchronous_ms, plain_ms)
