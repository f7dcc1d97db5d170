"""How many threads OpenBLAS may use: one per processor that other programs leave free.

OpenBLAS's threads wait for each other by spinning. When another program runs on one of their processors, every product
waits for the scheduler, again and again: on two busy processors a pass of width 8 took 30 to 100 times as long with two
threads as on a quiet machine, and 4 times as long with one.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

__all__ = ("BlasThreads", "CpuTimes", "OpenBlas", "find_openblas", "fit_threads", "others_used", "read_cpu_times")

# Shorter spans are noise: the kernel counts in hundredths of a second.
SPAN_S: Final = 0.25


class OpenBlas(Protocol):
    """The two functions of OpenBLAS that matter here."""

    def openblas_get_num_threads(self) -> int:
        """Return how many threads a product uses."""
        ...

    def openblas_set_num_threads(self, n: int) -> None:
        """Set how many threads a product uses."""
        ...


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Processor time up to a moment.

    Attributes:
        at_s: the moment, on a clock that only goes forward.
        busy_s: seconds that all processors together spent on anything, this process included.
        own_s: seconds that this process spent on them.
        n_processors: how many there are.
    """

    at_s: float
    busy_s: float
    own_s: float
    n_processors: int


def read_cpu_times(stat: Path = Path("/proc/stat")) -> CpuTimes:
    """Read the processor times of the machine and of this process."""
    lines = stat.read_text(encoding="ascii").splitlines()
    user, nice, system, _idle, _iowait, irq, softirq, steal = (int(n) for n in lines[0].split()[1:9])
    own = os.times()
    return CpuTimes(
        at_s=time.monotonic(),
        busy_s=(user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK"),
        own_s=own.user + own.system,
        n_processors=sum(line.startswith("cpu") for line in lines) - 1,
    )


def others_used(before: CpuTimes, after: CpuTimes) -> float:
    """Say how many processors other programs used on average in a span."""
    others_s = (after.busy_s - before.busy_s) - (after.own_s - before.own_s)
    return max(0.0, others_s) / (after.at_s - before.at_s)


def fit_threads(before: CpuTimes, after: CpuTimes, most: int) -> int:
    """Say how many threads fit on the processors that others left free in a span.

    Returns:
        1 to `most`.
    """
    return min(max(round(after.n_processors - others_used(before, after)), 1), most)


def find_openblas() -> OpenBlas | None:
    """Return the OpenBLAS that was loaded before Python; `None` on other systems and without one."""
    library = ctypes.CDLL(None)
    if sys.platform != "linux" or not hasattr(library, "openblas_set_num_threads"):
        return None
    library.openblas_set_num_threads.restype = None
    return library


class BlasThreads:
    """Keeps OpenBLAS's threads off the processors that others use.

    Args:
        library: whose threads; `None` makes `adapt` do nothing.
        read: reads the processor times.
    """

    def __init__(self, library: OpenBlas | None, read: Callable[[], CpuTimes] = read_cpu_times) -> None:
        self._library = library
        self._read = read
        # What the user's OPENBLAS_NUM_THREADS or the library itself chose is the most.
        self._most = library.openblas_get_num_threads() if library is not None else 1
        self._now = self._most
        self._last = read() if self._most > 1 else None

    def adapt(self) -> None:
        """Look at the last span, at most a few times a second, and set the number of threads."""
        if self._last is None or self._library is None or time.monotonic() - self._last.at_s < SPAN_S:
            return
        times = self._read()
        fitting = fit_threads(self._last, times, self._most)
        self._last = times
        if fitting != self._now:
            self._library.openblas_set_num_threads(fitting)
            self._now = fitting
