"""Hands jobs to the worker and waits for what becomes of them."""

from __future__ import annotations

import math

import anyio

from plgd.errors import Cancelled, DeadlinePassed, PlgdError
from plgd.protocol.daemon import JobInfo
from plgd.server.deadline import Deadline
from plgd.server.job import Ending, Job
from plgd.server.jobs import Feed, JobEvent, JobResult
from plgd.server.lifecycle import Lifecycle
from plgd.server.worker import Worker

__all__ = ("JobRunner",)


class JobRunner:
    """Used on the event loop.

    Args:
        worker: owns the model.
        lifecycle: knows whether the daemon is about to stop.
    """

    def __init__(self, worker: Worker[JobEvent, JobResult], lifecycle: Lifecycle) -> None:
        self._worker = worker
        self._lifecycle = lifecycle
        self._feeds: dict[str, Feed] = {}

    @property
    def jobs(self) -> tuple[JobInfo, ...]:
        """The jobs that wait or run."""
        return tuple(feed.info for feed in self._feeds.values())

    async def run(
        self, feed: Feed, session: str, job: Job[JobEvent, JobResult], deadline: Deadline | None = None
    ) -> JobResult | Ending:
        """Queue a job and wait for its result, or for the newer job that takes its place.

        Args:
            feed: the job's observer.
            session: the job's id.
            job: the work.
            deadline: when it is to be over.

        Raises:
            Cancelled: the client, or a daemon in a hurry, wanted it to end.
            DeadlinePassed: the job was not over in time.
            PlgdError: what the job raised, or why it was not queued.
        """
        self._lifecycle.check_open()
        if deadline is not None:
            deadline.check()
        self._worker.submit(job)
        self._feeds[session] = feed
        try:
            outcome = await self._wait_for(feed, job, math.inf if deadline is None else deadline.at)
        finally:
            del self._feeds[session]
        if isinstance(outcome, PlgdError):
            raise outcome
        if outcome is Ending.CANCELLED:
            raise Cancelled
        if outcome is Ending.DEADLINE and deadline is not None:
            raise DeadlinePassed.of(deadline.ms)
        return outcome

    async def _wait_for(
        self, feed: Feed, job: Job[JobEvent, JobResult], until: float
    ) -> JobResult | PlgdError | Ending:
        # The worker decides whether the end came in time: what it has written, it answers.
        try:
            with anyio.CancelScope(deadline=until):
                await feed.over.wait()
            if not feed.over.is_set():
                self._worker.cancel(job, Ending.DEADLINE)
            await feed.over.wait()
        except anyio.get_cancelled_exc_class():
            self._worker.cancel(job)
            with anyio.CancelScope(shield=True):
                await feed.over.wait()
        return feed.outcome
