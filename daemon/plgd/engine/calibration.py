"""Calibration: measures what rounds cost on the device at hand, through the target's own contract."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Final

from plgd.engine.cost import StepCosts
from plgd.engine.target import Target

__all__ = ("measure_costs",)

# Prompt tokens per pass while a context is built up.
SLICE: Final = 512

# Pipelined steps per repeat; a single one is too short to be timed well.
STEPS_PER_REPEAT: Final = 4

# Two times in a row that differ by less than this are believed; a cost is known no better than that anyway.
AGREEMENT: Final = 0.05


def measure_costs(
    make_target: Callable[[], Target],
    *,
    widths: Sequence[int],
    contexts: Sequence[int],
    n_repeats: int,
    clock: Callable[[], float],
    on_progress: Callable[[int, int], None] = lambda _context, _repeat: None,
) -> StepCosts:
    """Time rounds of each width behind each context length.

    Each round is one that a reply could have: a verify whose draft is dropped whole, so that the context moves on by
    one token from round to round. On some devices a plan is built for each pair of shapes, which a standing context
    would pay for only once. The widths take turns, so that a slow second meets all of them. A width is done when two
    of its rounds in a row agree, at the earliest after its second one; the first, which may compile kernels, counts
    only if the second confirms it. Which tokens are fed does not matter.

    Args:
        make_target: starts an empty sequence.
        widths: ascending from 1.
        contexts: tokens before the first timed round, ascending, each at least 1.
        n_repeats: most rounds of each width after the first; if no two agree, the median of these counts.
        clock: seconds from any start.
        on_progress: is told the context length and the turn, from 0.

    Raises:
        EngineError: the model failed.
        ValueError: a context does not fit into the model's, or the widths are none.
    """
    rows: list[tuple[float, ...]] = []
    pipelined: list[float] = []
    target, n_tokens = make_target(), 0
    for n_context in contexts:
        if n_tokens > n_context:
            target, n_tokens = make_target(), 0
        _fill(target, n_context - n_tokens)
        times_ms: dict[int, list[float]] = {width: [] for width in widths}
        for turn in range(n_repeats + 1):
            on_progress(n_context, turn)
            for width, found_ms in times_ms.items():
                if not _agree(found_ms):
                    found_ms.append(_time_round(target, width, clock))
        rows.append(tuple(_settle(times_ms[width]) for width in widths))
        pipelined.append(_time_pipelined(target, n_repeats, clock))
        n_tokens = target.offset + 1
    return StepCosts(
        widths=tuple(widths),
        contexts=tuple(contexts),
        costs_ms=tuple(rows),
        pipelined_ms=tuple(pipelined),
        max_width=max(widths),
    )


def _fill(target: Target, n_tokens: int) -> None:
    for start in range(0, n_tokens, SLICE):
        target.prefill([0] * min(SLICE, n_tokens - start))


def _time_round(target: Target, width: int, clock: Callable[[], float]) -> float:
    """Return the milliseconds of a round that commits one token."""
    started_at = clock()
    target.verify([0] * (width - 1))
    target.rollback(width - 1)
    return 1000.0 * (clock() - started_at)


def _time_pipelined(target: Target, n_repeats: int, clock: Callable[[], float]) -> float:
    """Return the milliseconds of a plain step while the pipeline is full."""
    target.advance()
    times_ms: list[float] = []
    while len(times_ms) <= n_repeats and not _agree(times_ms):
        started_at = clock()
        for _ in range(STEPS_PER_REPEAT):
            target.advance()
        times_ms.append(1000.0 * (clock() - started_at) / STEPS_PER_REPEAT)
    return _settle(times_ms)


def _agree(times_ms: Sequence[float]) -> bool:
    return len(times_ms) > 1 and abs(times_ms[-1] - times_ms[-2]) <= AGREEMENT * min(times_ms[-2:])


def _settle(times_ms: Sequence[float]) -> float:
    return statistics.mean(times_ms[-2:]) if _agree(times_ms) else statistics.median(times_ms[1:])
