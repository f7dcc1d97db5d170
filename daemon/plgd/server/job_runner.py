"""Hands jobs to the worker and waits for what becomes of them."""

from __future__ import annotations

import anyio

from plgd.errors import Cancelled, PlgdError
from plgd.protocol.daemon import JobInfo
from plgd.server.jobs import Feed, JobEvent, JobResult
from plgd.server.lifecycle import Lifecycle
from plgd.server.scheduler import Ending, Job
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

    async def run(self, feed: Feed, session: str, job: Job[JobEvent, JobResult]) -> JobResult | Ending:
        """Queue a job and wait for its result, or for the newer job that takes its place.

        Raises:
            Cancelled: the client, or a daemon in a hurry, wanted it to end.
            PlgdError: what the job raised, or why it was not queued.
        """
        self._lifecycle.check_open()
        self._worker.submit(job)
        self._feeds[session] = feed
        try:
            outcome = await self._wait_for(feed, job)
        finally:
            del self._feeds[session]
        if isinstance(outcome, PlgdError):
            raise outcome
        if outcome is Ending.CANCELLED:
            raise Cancelled
        return outcome

    async def _wait_for(self, feed: Feed, job: Job[JobEvent, JobResult]) -> JobResult | PlgdError | Ending:
        try:
            await feed.over.wait()
        except anyio.get_cancelled_exc_class():
            # The worker decides whether the cancel came in time: what it has written, it answers.
            self._worker.cancel(job)
            with anyio.CancelScope(shield=True):
                await feed.over.wait()
        return feed.outcome
