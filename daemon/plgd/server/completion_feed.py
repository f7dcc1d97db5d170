"""Carries a reply from the worker's thread to whoever asked for a completion."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import anyio

from plgd.completions.request import CompletionText, PromptRead
from plgd.errors import PlgdError
from plgd.protocol.daemon import JobInfo
from plgd.protocol.edits import Stage
from plgd.server.jobs import JobEvent, JobResult
from plgd.server.scheduler import Ending

__all__ = ("CompletionFeed",)

_NAME = "a completion"


class CompletionFeed:
    """Observes the job of one completion; made on the event loop, told on the worker's thread.

    Args:
        session: the job's id.
        on_text: told on the event loop of the reply's text as it comes.

    Attributes:
        over: set when the job is over.
    """

    def __init__(self, session: str, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._loop = asyncio.get_running_loop()
        self._outcome: JobResult | PlgdError | Ending | None = None
        self._info = JobInfo(session=session, name=_NAME, stage=Stage.QUEUED, percent=0.0, queue_position=0)
        self.over = anyio.Event()

    @property
    def info(self) -> JobInfo:
        """Where the completion is."""
        return self._info

    @property
    def outcome(self) -> JobResult | PlgdError | Ending:
        """What became of the job; to be asked when it is over."""
        if self._outcome is None:
            raise RuntimeError("the job is not over")
        return self._outcome

    # On the worker's thread ---------------------------------------------------------------------------

    def waiting(self, stage: Stage, percent: float, position: int) -> None:
        """The job waits in the queue or for its model."""
        self._post(lambda: self._reach(stage, percent, position))

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
        if self._outcome is not None:
            return  # a step that outlived its job: nobody waits for it any more
        match event:
            case PromptRead(percent):
                self._reach(Stage.PREFILL, percent)
            case CompletionText(text):
                self._reach(Stage.DECODE, 0.0)
                if text:
                    self._on_text(text)

    def _reach(self, stage: Stage, percent: float, position: int = 0) -> None:
        info = self._info
        self._info = JobInfo(
            session=info.session, name=info.name, stage=stage, percent=percent, queue_position=position
        )

    def _end(self, outcome: JobResult | PlgdError | Ending) -> None:
        if self._outcome is None:
            self._outcome = outcome
            self.over.set()
