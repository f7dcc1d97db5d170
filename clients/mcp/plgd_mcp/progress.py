"""One rising number for an edit's progress, whose stages each count to 100 in the daemon."""

from __future__ import annotations

from typing import Final

from plgd.protocol.edits import EditProgress, Stage

__all__ = ("Progress",)

# Where a stage begins and ends: each begins above the end of the one before, so that it is told; decoding is longest.
_BANDS: Final = {
    Stage.QUEUED: (0.0, 0.0),
    Stage.LOADING: (1.0, 19.0),
    Stage.PREFILL: (20.0, 40.0),
    Stage.DECODE: (41.0, 98.0),
    Stage.APPLY: (99.0, 100.0),
}


class Progress:
    """Turns notifications into numbers of which each is greater than the one before, as MCP demands."""

    def __init__(self) -> None:
        self._told = -1.0

    def next(self, note: EditProgress) -> float | None:
        """Return the percentage to tell; None when it is no greater than what was told."""
        begin, end = _BANDS[note.stage]
        percent = begin + (end - begin) * note.percent / 100.0
        if percent <= self._told:
            return None
        self._told = percent
        return percent
