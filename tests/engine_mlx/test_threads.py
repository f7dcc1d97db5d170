"""OpenBLAS's threads keep off the processors that other programs use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from plgd.engine.mlx.threads import BlasThreads, CpuTimes, fit_threads, read_cpu_times


@dataclass
class CountingBlas:
    """Remembers what it was told."""

    n_threads: int
    told: list[int] = field(default_factory=list)

    def openblas_get_num_threads(self) -> int:
        return self.n_threads

    def openblas_set_num_threads(self, n: int) -> None:
        self.told.append(n)
        self.n_threads = n


def spans(others: list[float], own: float, n_processors: int) -> Iterator[CpuTimes]:
    """Yield the times at the ends of one-second spans in which others used so many processors."""
    busy = spent = 0.0
    yield CpuTimes(-1e6, busy, spent, n_processors)
    for second, used in enumerate(others):
        busy += used + own
        spent += own
        yield CpuTimes(-1e6 + second + 1, busy, spent, n_processors)


@pytest.mark.parametrize(
    ("others", "most", "fitting"),
    [(0.0, 4, 4), (0.3, 4, 4), (1.0, 4, 3), (2.6, 4, 1), (9.0, 4, 1), (0.0, 2, 2), (1.0, 2, 2)],
)
def test_threads_fit_on_what_others_leave(others: float, most: int, fitting: int) -> None:
    """There is a thread for each free processor, at least one and never more than OpenBLAS was given."""
    before, after = spans([others], own=1.0, n_processors=4)
    assert fitting == fit_threads(before, after, most)


def test_threads_go_when_others_come_and_return_when_they_leave() -> None:
    """A busy neighbour takes threads away for as long as it is busy, and each change is told once."""
    library = CountingBlas(2)
    times = spans([0.0, 1.0, 1.0, 0.0], own=1.0, n_processors=2)
    threads = BlasThreads(library, lambda: next(times))
    for _ in range(4):
        threads.adapt()
    assert [1, 2] == library.told


def test_one_thread_is_left_alone() -> None:
    """With a single thread there is nothing to look at, and nothing is read."""
    library = CountingBlas(1)
    BlasThreads(library, lambda: pytest.fail("read")).adapt()
    assert [] == library.told


def test_times_are_read_from_the_kernel() -> None:
    """The machine's busy time contains this process's own."""
    if not Path("/proc/stat").exists():
        pytest.skip("only Linux has /proc/stat")
    times = read_cpu_times()
    assert 0 < times.own_s <= times.busy_s
    assert times.n_processors >= 1
