"""Step costs are read from a table along straight lines, and a bad table is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.engine.cost import ASSUMED_COSTS, StepCosts

TABLE = StepCosts(
    widths=(1, 2, 8, 16),
    contexts=(100, 1100),
    costs_ms=((10.0, 12.0, 18.0, 26.0), (20.0, 24.0, 36.0, 52.0)),
    pipelined_ms=(9.0, 19.0),
    max_width=64,
)


@pytest.mark.parametrize(
    ("width", "n_context", "expected_ms"),
    [
        (1, 100, 10.0),
        (16, 100, 26.0),
        (5, 100, 15.0),  # half-way from 2 to 8
        (24, 100, 34.0),  # on at the slope of the last two points
        (2, 600, 18.0),  # half-way between the contexts
        (5, 600, 22.5),
        (1, 0, 10.0),  # nothing is known below the first context
        (1, 2100, 30.0),  # on at the slope of the last two contexts
    ],
)
def test_costs_lie_on_straight_lines(width: int, n_context: int, expected_ms: float) -> None:
    """Between the points of a table, and past its last two, a cost lies on the line through them."""
    assert expected_ms == pytest.approx(TABLE.round_ms(width, n_context))


def test_pipelined_rounds_have_their_own_cost() -> None:
    """A pipelined plain round is read from its own row."""
    assert [9.0, 14.0] == pytest.approx([TABLE.plain_ms(100), TABLE.plain_ms(600)])


def test_a_padded_table_is_a_staircase() -> None:
    """Where the target fills blocks up, a width costs what the next measured width costs."""
    padded = StepCosts((1, 8, 64), (0,), ((10.0, 15.0, 14.0),), (10.0,), max_width=64, padded=True)
    assert [10.0, 15.0, 15.0, 14.0, 14.0] == [padded.round_ms(width, 0) for width in (1, 2, 8, 9, 64)]


def test_a_longer_context_never_looks_free() -> None:
    """A table whose longer context happened to be measured faster is not carried on below zero."""
    noisy = StepCosts((1,), (100, 200), ((10.0,), (9.0,)), (10.0, 9.0), max_width=1)
    assert noisy.round_ms(1, 100_000) == pytest.approx(10.0)


def test_a_wider_round_never_looks_free() -> None:
    """A table whose widest round happened to be measured faster is not carried on below zero."""
    noisy = StepCosts((1, 2, 4), (0,), ((10.0, 12.0, 8.0),), (10.0,), max_width=128)
    assert [12.0, 8.0, 12.0] == [noisy.round_ms(width, 0) for width in (2, 4, 128)]


@given(width=st.integers(1, 400), n_context=st.integers(0, 200_000))
def test_costs_are_positive(width: int, n_context: int) -> None:
    """Every width behind every context costs some time."""
    assert TABLE.round_ms(width, n_context) > 0
    assert ASSUMED_COSTS.round_ms(width, n_context) > 0


@pytest.mark.parametrize(
    ("max_width", "expected"), [(64, (2, 8, 16, 64)), (16, (2, 8, 16)), (9, (2, 8, 9)), (2, (2,)), (1, ())]
)
def test_candidates_are_the_measured_widths_up_to_the_widest(max_width: int, expected: tuple[int, ...]) -> None:
    """A governor chooses among the measured widths above 1 and the widest that may be run."""
    table = StepCosts((1, 2, 8, 16), (0,), ((1.0, 1.0, 1.0, 1.0),), (1.0,), max_width)
    assert expected == table.candidates()


def test_a_table_survives_a_file() -> None:
    """A table saved as JSON is the same table when it is loaded."""
    assert StepCosts.from_data(json.loads(json.dumps(TABLE.to_data()))) == TABLE


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"widths": [2, 4, 8, 16]}, "widths must ascend from 1"),
        ({"widths": [1, 8, 2, 16]}, "widths must ascend from 1"),
        ({"contexts": [1100, 100]}, "context lengths must ascend"),
        ({"costs_ms": [[10.0, 12.0, 18.0, 26.0]]}, "as many rows"),
        ({"costs_ms": [[10.0], [20.0]]}, "as many costs"),
        ({"pipelined_ms": [9.0, 0.0]}, "positive times"),
        ({"pipelined_ms": [9.0, float("nan")]}, "positive times"),
        ({"max_width": 0}, "max_width must be at least 1"),
        ({"max_width": 10**9}, "max_width must be at least 1 and at most"),
        ({"colour": "red"}, "not a table of step costs"),
        ({"costs_ms": [["ten", 12.0, 18.0, 26.0]] * 2}, "not a table of step costs"),
        ({"costs_ms": [[10**400, 12.0, 18.0, 26.0]] * 2}, "not a table of step costs"),
        ({"pipelined_ms": [1e-320, 1.0]}, "positive times"),
        ({"pipelined_ms": [1.0, 1e308]}, "positive times"),
        ({"pipelined_ms": {"100": 9.0, "1100": 19.0}}, "not a table of step costs"),
        ({"widths": [1, 2.5, 8, 16]}, "not a table of step costs"),
        ({"widths": [True, 2, 8, 16]}, "not a table of step costs"),
        ({"contexts": [100, float("nan")]}, "not a table of step costs"),
        ({"max_width": float("nan")}, "not a table of step costs"),
        ({"padded": "no"}, "not a table of step costs"),
    ],
)
def test_a_damaged_table_is_refused(change: dict[str, object], message: str) -> None:
    """A table with holes, times that are none or unknown fields raises one kind of error."""
    with pytest.raises(ValueError, match=message):
        StepCosts.from_data({**TABLE.to_data(), **change})
