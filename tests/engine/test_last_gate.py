"""The last gate goes by what was measured, over a window, with hysteresis."""

from __future__ import annotations

import math
import random

import pytest

from plgd.engine.gate import REST, WINDOW, LastGate


def feed(gate: LastGate, n_rounds: int, *, n_tokens: int, elapsed_ms: float) -> None:
    """Measure drafted rounds that were expected to take 20 ms where a plain round takes 10."""
    for _ in range(n_rounds):
        gate.observe_drafted(n_tokens, elapsed_ms, expected_ms=20.0, plain_ms=10.0)


def test_a_window_of_losses_asks_for_more() -> None:
    """Once a whole window of drafted rounds was slower than plain decoding, more expected gain is asked for."""
    gate = LastGate()
    before = gate.required_gain
    feed(gate, WINDOW - 1, n_tokens=1, elapsed_ms=20.0)
    assert before == gate.required_gain
    feed(gate, 1, n_tokens=1, elapsed_ms=20.0)
    assert gate.required_gain > before


def test_a_window_of_gains_asks_for_less_again() -> None:
    """Once a whole window was clearly faster than plain decoding, the gate opens, step by step, to where it began."""
    gate = LastGate()
    before = gate.required_gain
    feed(gate, 4 * WINDOW, n_tokens=1, elapsed_ms=20.0)
    steps = {gate.required_gain}
    for _ in range(10 * WINDOW):
        feed(gate, 1, n_tokens=8, elapsed_ms=20.0)
        steps.add(gate.required_gain)
    assert before == gate.required_gain
    assert len(steps) == 5


def test_no_single_round_decides() -> None:
    """One round a thousand times slower than expected moves nothing while the others gain."""
    gate = LastGate()
    before = gate.required_gain
    feed(gate, WINDOW, n_tokens=8, elapsed_ms=20.0)
    feed(gate, 1, n_tokens=8, elapsed_ms=20_000.0)
    feed(gate, WINDOW, n_tokens=8, elapsed_ms=20.0)
    assert before == gate.required_gain


@pytest.mark.parametrize("seed", range(5))
def test_around_the_marks_nothing_flutters(seed: int) -> None:
    """Rounds that scatter about five percent of gain do not move the gate to and fro."""
    noise = random.Random(seed)  # noqa: S311 - no secret
    gate = LastGate()
    feed(gate, WINDOW, n_tokens=1, elapsed_ms=20.0)
    narrowed = gate.required_gain
    for _ in range(1000):
        feed(gate, 1, n_tokens=2, elapsed_ms=19.0 + noise.uniform(-3.0, 3.0))
    assert narrowed == gate.required_gain


def test_lasting_losses_stop_drafting_for_a_while() -> None:
    """When nothing helps, no draft is good enough any more; after a rest of plain rounds one window may try again."""
    gate = LastGate()
    feed(gate, 5 * WINDOW, n_tokens=1, elapsed_ms=20.0)
    assert gate.required_gain == math.inf
    for _ in range(REST - 1):
        gate.observe_plain()
    assert gate.required_gain == math.inf
    gate.observe_plain()
    assert gate.required_gain < math.inf
