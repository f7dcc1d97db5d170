"""What jobs on the model tell while they go on, and what comes of them: of edits and of completions."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import anyio

from plgd.completions.request import CompletionEvent, CompletionResult
from plgd.edits import events
from plgd.errors import PlgdError
from plgd.protocol.daemon import JobInfo
from plgd.server.scheduler import Ending

__all__ = ("Feed", "JobEvent", "JobResult")

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
