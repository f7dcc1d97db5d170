"""The queue: jobs in the order in which they are to start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from plgd.protocol.edits import Priority
from plgd.server.job import Job

__all__ = ("OVERTAKEN_LIMIT", "WaitingLine")

EventT = TypeVar("EventT")
ResultT = TypeVar("ResultT")

# Interactive jobs that may be put before a waiting batch job. Only jobs of another model hold up those behind them, so
# this is how many edits a person can make with one model before a batch job gets its own loaded.
OVERTAKEN_LIMIT: Final = 8


class WaitingLine(Generic[EventT, ResultT]):
    """Interactive jobs stand before batch jobs, each kind in the order of arrival.

    A batch job that `OVERTAKEN_LIMIT` later ones have passed is passed no more, so everybody's turn comes.
    """

    def __init__(self) -> None:
        self._jobs: list[Job[EventT, ResultT]] = []

    def __iter__(self) -> Iterator[Job[EventT, ResultT]]:
        return iter(self._jobs)

    def __len__(self) -> int:
        return len(self._jobs)

    def __contains__(self, job: Job[EventT, ResultT]) -> bool:
        return job in self._jobs

    def add(self, job: Job[EventT, ResultT]) -> None:
        """Let a job stand in line."""
        place = len(self._jobs)
        if job.priority is Priority.INTERACTIVE:
            while place and _may_pass(self._jobs[place - 1]):
                place -= 1
        for passed in self._jobs[place:]:
            passed.n_overtaken += 1
        self._jobs.insert(place, job)

    def remove(self, job: Job[EventT, ResultT]) -> None:
        """Take a job out of the line."""
        self._jobs.remove(job)


def _may_pass(waiting: Job[EventT, ResultT]) -> bool:
    return waiting.priority is Priority.BATCH and waiting.n_overtaken < OVERTAKEN_LIMIT
