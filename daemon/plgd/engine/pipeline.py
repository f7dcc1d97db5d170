"""When a plain round should submit the next step ahead, and when not."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

__all__ = ("PipelineChoice",)

# Lower bounds of the classes of rounds since a draft landed, and the chance assumed in each that one lands now.
STREAK_BOUNDS: Final = (0, 1, 2, 4, 8, 16)
ASSUMED: Final = (0.6, 0.4, 0.2, 0.08, 0.04, 0.02)
ASSUMED_WEIGHT: Final = 4.0
KEPT: Final = 0.95


class PipelineChoice:
    """Weighs what a step submitted ahead saves against what it costs when a draft comes.

    A pipelined round saves the host's bubble b. But if a draft of the next round would land, the step ahead makes it
    wait: a token is computed alone, for p, that the block would have given nearly for nothing. So a step is submitted
    while the chance of that is below b / (b + p). The chance is learnt by the number of rounds since a draft landed;
    a device without a bubble never submits ahead.
    """

    def __init__(self) -> None:
        self._n_since = 0
        self._cells = [[ASSUMED_WEIGHT * chance, ASSUMED_WEIGHT] for chance in ASSUMED]

    def submits_ahead(self, synchronous_ms: float, pipelined_ms: float) -> bool:
        """Tell whether the plain round about to run should submit the next step.

        Args:
            synchronous_ms: a plain round that is read before the next is submitted.
            pipelined_ms: a plain round in the pipeline.
        """
        landed, n = self._cells[_place(self._n_since + 1)]  # of the round after this one
        return landed / n < (synchronous_ms - pipelined_ms) / synchronous_ms

    def observe(self, *, landed: bool) -> None:
        """Learn from a round.

        Args:
            landed: it had a draft worth verifying, the first token of which came true.
        """
        cell = self._cells[_place(self._n_since)]
        cell[0] = KEPT * cell[0] + landed
        cell[1] = KEPT * cell[1] + 1.0
        self._n_since = 0 if landed else self._n_since + 1


def _place(n_since: int) -> int:
    return bisect_right(STREAK_BOUNDS, n_since) - 1
