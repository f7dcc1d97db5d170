"""When a plain round should submit the next step ahead, and when not."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

__all__ = ("PipelineChoice",)

# Lower bounds of the classes of plain rounds in a row, and the chance assumed in each that the next round drafts.
STREAK_BOUNDS: Final = (0, 1, 2, 4, 8, 16)
ASSUMED: Final = (0.5, 0.3, 0.1, 0.06, 0.04, 0.02)
ASSUMED_WEIGHT: Final = 4.0
KEPT: Final = 0.95


class PipelineChoice:
    """Weighs what a step submitted ahead saves against what it costs when a draft comes.

    A pipelined round saves the host's bubble b. But if the next round has a draft worth verifying, the step ahead
    makes it wait: a token is computed alone, for p, that the block would have given nearly for nothing. So a step is
    submitted while the chance of a draft in the next round is below b / (b + p). The chance is learnt by the number
    of plain rounds in a row; a device without a bubble never submits ahead.
    """

    def __init__(self) -> None:
        self._n_plain = 0
        self._cells = [[ASSUMED_WEIGHT * chance, ASSUMED_WEIGHT] for chance in ASSUMED]

    def submits_ahead(self, synchronous_ms: float, pipelined_ms: float) -> bool:
        """Tell whether the plain round about to run should submit the next step.

        Args:
            synchronous_ms: a plain round that is read before the next is submitted.
            pipelined_ms: a plain round in the pipeline.
        """
        bubble = synchronous_ms - pipelined_ms
        drafts, n = self._cells[self._place(self._n_plain)]
        return drafts / n < bubble / synchronous_ms

    def observe(self, *, drafts: bool, drafted: bool) -> None:
        """Learn from a round.

        Args:
            drafts: it had a draft worth verifying.
            drafted: it verified one, so that the plain rounds are counted anew.
        """
        if self._n_plain:
            cell = self._cells[self._place(self._n_plain - 1)]
            cell[0] = KEPT * cell[0] + drafts
            cell[1] = KEPT * cell[1] + 1.0
        self._n_plain = 0 if drafted else self._n_plain + 1

    def _place(self, n_plain: int) -> int:
        return bisect_right(STREAK_BOUNDS, n_plain) - 1
