"""What jobs on the model tell while they go on, and what comes of them: of edits and of completions."""

from __future__ import annotations

from typing import Final, Protocol, TypeAlias

import anyio

from plgd.completions.request import CompletionEvent, CompletionResult, CompletionText, PromptRead
from plgd.edits import events
from plgd.errors import PlgdError
from plgd.protocol.daemon import JobInfo
from plgd.protocol.edits import Stage
from plgd.server.job import Doing, Ending

__all__ = ("Feed", "JobEvent", "JobResult", "doing_after")

_ALL: Final = 100.0  # percent

JobEvent: TypeAlias = events.JobEvent | CompletionEvent
JobResult: TypeAlias = events.JobResult | CompletionResult


class Feed(Protocol):
    """What an observer of a job knows on the event loop."""

    @property
    def over(self) -> anyio.Event:
        """Set when the job is over."""
        ...

    @property
    def info(self) -> JobInfo:
        """Where the job is."""
        ...

    @property
    def outcome(self) -> JobResult | PlgdError | Ending:
        """What became of the job; to be asked when it is over."""
        ...


def doing_after(event: JobEvent) -> Doing | None:
    """Tell what a job does after an event; None when its step is not over yet."""
    match event:
        case events.JobDelta():
            return None  # the progress of the same round follows
        case events.JobProgress(awaits=True):
            return Doing.AWAITING
        case events.JobProgress(stage=Stage.PREFILL) | PromptRead():
            return Doing.READING if event.percent < _ALL else Doing.STARTING
        case events.JobProgress() | CompletionText():
            return Doing.WRITING
