"""Carries what becomes of a job from the worker's thread to the event loop."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable

import anyio

from plgd.errors import PlgdError
from plgd.protocol.daemon import JobInfo
from plgd.protocol.edits import Stage
from plgd.server.job import Ending
from plgd.server.jobs import JobEvent, JobResult

__all__ = ("JobFeed",)


class JobFeed(ABC):
    """Observes a job; made on the event loop, told on the worker's thread. Implements `plgd.server.jobs.Feed`.

    What a step says that outlived its job is dropped: nobody waits for it any more.

    Attributes:
        over: set when the job is over.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._outcome: JobResult | PlgdError | Ending | None = None
        self.over = anyio.Event()

    @property
    @abstractmethod
    def info(self) -> JobInfo:
        """Where the job is."""

    @property
    def outcome(self) -> JobResult | PlgdError | Ending:
        """What became of the job; to be asked when it is over."""
        if self._outcome is None:
            raise RuntimeError("the job is not over")
        return self._outcome

    # On the worker's thread ---------------------------------------------------------------------------

    def waiting(self, stage: Stage, percent: float, position: int) -> None:
        """The job waits in the queue or for its model."""
        self._post(lambda: self._wait(stage, percent, position))

    def happened(self, event: JobEvent) -> None:
        """The job yielded an event."""
        self._post(lambda: self._forward(event))

    def ended(self, outcome: JobResult | PlgdError | Ending) -> None:
        """The job is over."""
        self._post(lambda: self._end(outcome))

    def _post(self, action: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._act, action)
        except RuntimeError:
            # The loop has closed: the daemon is gone for everybody who could be told.
            return

    # On the event loop --------------------------------------------------------------------------------

    def _act(self, action: Callable[[], None]) -> None:
        if self._outcome is None:
            action()

    def _end(self, outcome: JobResult | PlgdError | Ending) -> None:
        self._outcome = outcome
        self.over.set()

    @abstractmethod
    def _wait(self, stage: Stage, percent: float, position: int) -> None:
        """Take in that the job waits."""

    @abstractmethod
    def _forward(self, event: JobEvent) -> None:
        """Take in an event."""
