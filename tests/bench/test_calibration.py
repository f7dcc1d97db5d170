"""Step costs are measured as a reply would meet them."""

from __future__ import annotations

from functools import partial
from itertools import chain, repeat

import pytest

from doubles import HistoryTarget
from plgd.engine.calibration import measure_costs
from plgd.engine.cost import StepCosts

FIRST_USE_S = 50.0
WIDTHS = (1, 2, 4, 8)


class Device:
    """Targets whose passes take a known time, more when a width is used for the first time."""

    def __init__(self) -> None:
        self.targets: list[HistoryTarget] = []

    def target(self) -> HistoryTarget:
        """Start an empty sequence."""
        self.targets.append(HistoryTarget())
        return self.targets[-1]

    def clock(self) -> float:
        """Return the seconds that all passes took, 1 + width / 8 each."""
        widths = [width for target in self.targets for width in target.widths]
        return FIRST_USE_S * len(set(widths)) + sum(1.0 + width / 8 for width in widths)

    def measure(self, n_repeats: int) -> StepCosts:
        """Measure the device."""
        return measure_costs(self.target, widths=WIDTHS, contexts=(10, 600), n_repeats=n_repeats, clock=self.clock)


@pytest.mark.parametrize("n_repeats", [1, 4])
def test_costs_are_those_of_the_device(n_repeats: int) -> None:
    """Each width costs what its pass takes; what its first use takes besides is not counted."""
    costs = Device().measure(n_repeats)
    expected = tuple(1000.0 * (1.0 + width / 8) for width in WIDTHS)
    assert (expected, expected) == costs.costs_ms
    assert (1125.0, 1125.0) == costs.pipelined_ms
    assert (WIDTHS, (10, 600), 8) == (costs.widths, costs.contexts, costs.max_width)


def test_the_context_moves_on() -> None:
    """Every timed round and step commits one token, so that no shape of the device is met twice."""
    device = Device()
    device.measure(3)
    (target,) = device.targets
    # At the second context two rounds of each width, which agree, one step that fills the pipeline and two repeats of
    # four steps. The head is not fed yet.
    assert 600 + 2 * len(WIDTHS) + 1 + 2 * 4 - 1 == target.offset
    # At the first one, kernels were new in one more round.
    assert (3 + 2) * len(WIDTHS) == target.calls.count("verify")
    assert 2 * (1 + 2 * 4) == target.calls.count("advance")


def test_contexts_that_are_too_close_have_a_sequence_each() -> None:
    """Where the rounds at one context lead past the next, that one begins anew."""
    device = Device()
    costs = measure_costs(device.target, widths=(1, 2), contexts=(10, 12), n_repeats=2, clock=device.clock)
    assert 2 == len(device.targets)
    assert costs.costs_ms[0] == costs.costs_ms[1]


@pytest.mark.parametrize(
    ("times_ms", "expected_ms", "n_rounds"),
    [
        ([10.0, 10.4], 10.2, 2),  # two that agree are enough
        ([95.0, 10.0, 10.2], 10.1, 3),  # the first compiled something
        ([10.0, 31.0, 10.0, 10.2], 10.1, 4),  # a hiccup in between
        ([10.0, 20.0, 30.0, 40.0], 30.0, 4),  # none agree: the median of all but the first
    ],
)
def test_a_width_is_done_when_two_rounds_agree(times_ms: list[float], expected_ms: float, n_rounds: int) -> None:
    """Rounds are repeated until two in a row agree, as often as was allowed, and no more."""
    steady = repeat(1.0)
    lengths = chain(times_ms, steady)
    looks = chain.from_iterable((0.0, length / 1000.0) for length in lengths)
    target = HistoryTarget()
    costs = measure_costs(lambda: target, widths=(1,), contexts=(5,), n_repeats=3, clock=partial(next, looks))
    assert [expected_ms] == pytest.approx(costs.costs_ms[0])
    assert n_rounds == target.calls.count("verify")


def test_progress_is_told() -> None:
    """The turns of each context are told as they begin, from 0."""
    told: list[tuple[int, int]] = []
    device = Device()
    measure_costs(
        device.target,
        widths=(1,),
        contexts=(5, 6),
        n_repeats=1,
        clock=device.clock,
        on_progress=lambda n_context, repeat: told.append((n_context, repeat)),
    )
    assert [(5, 0), (5, 1), (6, 0), (6, 1)] == told
