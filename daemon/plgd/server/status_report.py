"""The answer to `status`, made anew for each call from what everybody said last."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from typing import Final

from plgd.documents.store import DocumentStore, Seen
from plgd.documents.warm import WarmCounts, WarmStore
from plgd.memory import resident_bytes
from plgd.protocol.daemon import DocumentInfo, JobInfo, StatusResult
from plgd.server.jobs import JobEvent, JobResult
from plgd.server.lifecycle import Lifecycle
from plgd.server.status import describe_documents, describe_sharing, describe_warmth, say_state
from plgd.server.worker import Worker
from plgd.version import __version__

__all__ = ("StatusReport",)

# The kernel is asked for the memory no more often than this: programs may ask thousands of times a second.
_MEMORY_AGE_S: Final = 0.1


class StatusReport:
    """Waits for nothing and is cheap to make; what takes time is kept while it holds.

    Args:
        worker: owns the model.
        jobs: tells the jobs that wait or run.
        lifecycle: counts requests.
        documents: those that are open, and those seen.
        store: what is kept of them.
        socket: where the daemon listens.
        clock: seconds from any start.
    """

    def __init__(
        self,
        worker: Worker[JobEvent, JobResult],
        jobs: Callable[[], tuple[JobInfo, ...]],
        lifecycle: Lifecycle,
        documents: DocumentStore,
        store: WarmStore,
        *,
        socket: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._worker = worker
        self._jobs = jobs
        self._lifecycle = lifecycle
        self._documents = documents
        self._store = store
        self._socket = socket
        self._clock = clock
        self._memory_at = -_MEMORY_AGE_S
        self._memory_bytes = 0
        self._described_for: tuple[Sequence[Seen], Collection[str], WarmCounts] | None = None
        self._described: tuple[DocumentInfo, ...] = ()

    def make(self) -> StatusResult:
        """Say what the daemon is doing."""
        worker = self._worker.state
        jobs = self._jobs()
        counts = self._store.counts
        state, message = say_state(worker, jobs, stopping=self._lifecycle.stopping)
        return StatusResult(
            state=state,
            message=message,
            version=__version__,
            pid=os.getpid(),
            model=worker.model,
            loading_percent=worker.loading_percent,
            jobs=jobs,
            resident_bytes=self._resident_bytes(),
            device_bytes=worker.device_bytes,
            device=worker.device,
            socket=self._socket,
            uptime_s=self._lifecycle.uptime_s,
            n_edits=self._lifecycle.n_edits,
            n_completions=self._lifecycle.n_completions,
            documents=self._describe_documents(counts),
            warm=describe_warmth(counts),
            sharing=describe_sharing(worker.sharing),
        )

    def _resident_bytes(self) -> int:
        now = self._clock()
        if now - self._memory_at >= _MEMORY_AGE_S:
            self._memory_at, self._memory_bytes = now, resident_bytes()
        return self._memory_bytes

    def _describe_documents(self, counts: WarmCounts) -> tuple[DocumentInfo, ...]:
        wanted = self._documents.seen(), self._documents.open.keys(), counts
        if wanted != self._described_for:
            self._described_for, self._described = wanted, describe_documents(*wanted)
        return self._described
