"""Tells the client that asked for an edit how far it is, and its text as it comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from plgd.edits.events import JobDelta, JobProgress
from plgd.protocol.daemon import JobInfo
from plgd.protocol.edits import EditDelta, EditProgress, Priority, Stage
from plgd.protocol.methods import EDIT_DELTA, EDIT_PROGRESS
from plgd.server.dispatch import Call
from plgd.server.feed import JobFeed
from plgd.server.jobs import JobEvent

__all__ = ("EditFeed",)

# A person sees no more than this, and an editor draws no more.
_PROGRESS_INTERVAL_S: Final = 0.1


class EditFeed(JobFeed):
    """Observes the job of one edit.

    Args:
        call: the request.
        session: the edit's id.
        name: the text's name, for the status.
        priority: the job's, for the status.
        file: which of several files it is about, counted from 0.
        clock: seconds; bounds how often progress is sent.
    """

    def __init__(
        self,
        call: Call,
        session: str,
        name: str,
        priority: Priority = Priority.INTERACTIVE,
        clock: Callable[[], float] = time.monotonic,
        *,
        file: int = 0,
    ) -> None:
        super().__init__()
        self._call = call
        self._session = session
        self._name = name
        self._priority = priority
        self._file = file
        self._clock = clock
        self._sent: EditProgress | None = None
        self._sent_at = 0.0
        self._latest = EditProgress(id=call.id, stage=Stage.QUEUED, file=file)

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
            priority=self._priority,
        )

    def _wait(self, stage: Stage, percent: float, position: int) -> None:
        self._progress(stage=stage, percent=percent, queue_position=position, file=self._file)

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


def _place(progress: EditProgress) -> tuple[Stage, int, int, int]:
    """Return what is told at once when it changes."""
    return progress.stage, progress.queue_position, progress.part, progress.file
