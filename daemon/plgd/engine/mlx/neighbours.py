"""How much of the machine other programs use: what is timed beside them says little about a quiet machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final

from plgd.engine.mlx.threads import CpuTimes, others_used, read_cpu_times

__all__ = ("QUIET_SHARE", "Neighbours")

# A fifth of a processor on a machine of two, which a desktop with nothing to do stays below.
QUIET_SHARE: Final = 0.1


class Neighbours:
    """Watches the other programs from now on.

    Args:
        read: reads the processor times; `None` where the system does not tell them.
        load: returns how many programs wanted a processor in the last minute; asked once, at the beginning, because
            what is timed then counts itself.
    """

    def __init__(
        self,
        read: Callable[[], CpuTimes] | None = read_cpu_times if sys.platform == "linux" else None,
        load: Callable[[], float] = lambda: os.getloadavg()[0],
    ) -> None:
        self._read = read
        self._before = read() if read is not None else None
        self._load = load() if read is None else 0.0

    def share(self) -> float:
        """Return which share of all processors the others have used; 0 for none."""
        if self._read is None or self._before is None:
            return self._load / (os.cpu_count() or 1)
        now = self._read()
        return others_used(self._before, now) / now.n_processors
