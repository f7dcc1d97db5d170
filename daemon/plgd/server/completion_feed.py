"""Tells whoever asked for a completion of its text as it comes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from plgd.completions.request import CompletionText, PromptRead
from plgd.protocol.daemon import JobInfo
from plgd.protocol.edits import Priority, Stage
from plgd.server.feed import JobFeed
from plgd.server.jobs import JobEvent

__all__ = ("CompletionFeed",)

_NAME = "a completion"


class CompletionFeed(JobFeed):
    """Observes the job of one completion.

    Args:
        session: the job's id.
        on_text: told on the event loop of the reply's text as it comes.
    """

    def __init__(self, session: str, on_text: Callable[[str], None]) -> None:
        super().__init__()
        self._on_text = on_text
        self._info = JobInfo(session=session, name=_NAME, stage=Stage.QUEUED, percent=0.0, priority=Priority.BATCH)

    @property
    def info(self) -> JobInfo:
        """Where the completion is."""
        return self._info

    def _wait(self, stage: Stage, percent: float, position: int) -> None:
        self._info = msgspec.structs.replace(self._info, stage=stage, percent=percent, queue_position=position)

    def _forward(self, event: JobEvent) -> None:
        match event:
            case PromptRead(percent):
                self._wait(Stage.PREFILL, percent, 0)
            case CompletionText(text):
                self._wait(Stage.DECODE, 0.0, 0)
                if text:
                    self._on_text(text)
