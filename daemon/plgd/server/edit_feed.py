"""Carries what becomes of an edit from the worker's thread to the client that asked for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

import anyio

from plgd.documents.document import Document
from plgd.edits.events import JobDelta, JobProgress
from plgd.errors import PlgdError
from plgd.protocol.daemon import JobInfo
from plgd.protocol.edits import EditDelta, EditProgress, EditResult, EditStats, EditStatus, Stage
from plgd.protocol.methods import EDIT_DELTA, EDIT_PROGRESS
from plgd.server.dispatch import Call
from plgd.server.jobs import JobEvent, JobResult
from plgd.server.scheduler import Ending

__all__ = ("EditFeed", "replaced_result")

# A person sees no more than this, and an editor draws no more.
_PROGRESS_INTERVAL_S: Final = 0.1


class EditFeed:
    """Observes the job of one edit; made on the event loop, told on the worker's thread.

    Attributes:
        over: set when the job is over.

    Args:
        call: the request.
        session: the edit's id.
        name: the text's name, for the status.
        file: which of several files it is about, counted from 0.
        clock: seconds; bounds how often progress is sent.
    """

    def __init__(
        self, call: Call, session: str, name: str, clock: Callable[[], float] = time.monotonic, *, file: int = 0
    ) -> None:
        self._call = call
        self._session = session
        self._name = name
        self._file = file
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._sent: EditProgress | None = None
        self._sent_at = 0.0
        self._latest = EditProgress(id=call.id, stage=Stage.QUEUED, file=file)
        self._outcome: JobResult | PlgdError | Ending | None = None
        self.over = anyio.Event()

    @property
    def info(self) -> JobInfo:
        """Where the edit is."""
        latest = self._latest
        return JobInfo(
            session=self._session,
            name=self._name,
            stage=latest.stage,
            percent=latest.percent,
            queue_position=latest.queue_position,
        )

    @property
    def outcome(self) -> JobResult | PlgdError | Ending:
        """What became of the job; to be asked when it is over."""
        if self._outcome is None:
            raise RuntimeError("the job is not over")
        return self._outcome

    # On the worker's thread ---------------------------------------------------------------------------

    def waiting(self, stage: Stage, percent: float, position: int) -> None:
        """The job waits in the queue or for its model."""
        self._post(lambda: self._progress(stage=stage, percent=percent, queue_position=position, file=self._file))

    def happened(self, event: JobEvent) -> None:
        """The job yielded an event."""
        self._post(lambda: self._forward(event))

    def ended(self, outcome: JobResult | PlgdError | Ending) -> None:
        """The job is over."""
        self._post(lambda: self._end(outcome))

    def _post(self, action: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(action)
        except RuntimeError:
            # The loop has closed: the daemon is gone for everybody who could be told.
            return

    # On the event loop --------------------------------------------------------------------------------

    def _forward(self, event: JobEvent) -> None:
        match event:
            case JobProgress():
                self._progress(
                    stage=event.stage,
                    percent=event.percent,
                    tokens_per_s=event.tokens_per_s,
                    n_tokens=event.n_tokens,
                    part=event.part,
                    file=event.file or self._file,
                )
            case JobDelta():
                delta = EditDelta(id=self._call.id, text=event.text, part=event.part, file=event.file or self._file)
                self._call.notify(EDIT_DELTA, delta)

    def _progress(
        self,
        *,
        stage: Stage,
        percent: float,
        tokens_per_s: float = 0.0,
        n_tokens: int = 0,
        queue_position: int = 0,
        part: int = 0,
        file: int = 0,
    ) -> None:
        self._latest = EditProgress(
            id=self._call.id,
            stage=stage,
            percent=percent,
            tokens_per_s=tokens_per_s,
            n_tokens=n_tokens,
            queue_position=queue_position,
            part=part,
            file=file,
        )
        if self._is_due():
            self._call.notify(EDIT_PROGRESS, self._latest)
            self._sent = self._latest
            self._sent_at = self._clock()

    def _is_due(self) -> bool:
        if self._sent is None or _place(self._sent) != _place(self._latest):
            return True
        return self._latest != self._sent and self._clock() - self._sent_at >= _PROGRESS_INTERVAL_S

    def _end(self, outcome: JobResult | PlgdError | Ending) -> None:
        if self._outcome is None:
            self._outcome = outcome
            self.over.set()


def _place(progress: EditProgress) -> tuple[Stage, int, int, int]:
    """Return what is told at once when it changes."""
    return progress.stage, progress.queue_position, progress.part, progress.file


def replaced_result(document: Document, session: str, model: str) -> EditResult:
    """Make the answer to an edit that a newer edit of the same lines has replaced."""
    return EditResult(
        session=session,
        status=EditStatus.CANCELLED,
        path=str(document.path or ""),
        base_fingerprint=document.fingerprint,
        new_fingerprint=document.fingerprint,
        version=document.version,
        new_text=document.text,
        diff="",
        hunks=(),
        warnings=("A newer edit of the same lines took its place.",),
        raw_reply="",
        model=model,
        stats=EditStats(),
    )
