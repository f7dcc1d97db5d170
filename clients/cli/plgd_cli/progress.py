"""Progress as a person on a terminal sees it, and as a log file does. Always on standard error."""

from __future__ import annotations

from types import TracebackType
from typing import Final, Self

import msgspec
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TransferSpeedColumn,
)

from plgd.protocol.edits import EditProgress, Stage
from plgd.protocol.models import PullProgress
from plgd_cli.output import say, stderr_is_terminal
from plgd_cli.table import size

__all__ = ("EditDisplay", "PullDisplay")

STAGES: Final = {
    Stage.QUEUED: "waiting",
    Stage.LOADING: "loading the model",
    Stage.PREFILL: "reading",
    Stage.DECODE: "writing",
    Stage.APPLY: "checking",
}


# Steps of a pull, in words; a step of a newer daemon is shown by its own name.
STEPS: Final = {
    "wait": "waiting for another pull",
    "ask-pip": "asking pip where the wheel is",
    "ask-hub": "asking the hub for the list of files",
    "download": "downloading",
    "verify": "checking",
    "unpack": "unpacking",
    "convert": "converting",
}


class _Display:
    """One line that is redrawn on a terminal and leaves nothing behind; silent where there is none."""

    def __init__(self, description: str, *columns: ProgressColumn) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            *columns,
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=not stderr_is_terminal(),
        )
        self._task = self._progress.add_task(description, total=None, note="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


class EditDisplay(_Display):
    """Stage, percent and speed of an edit. Use it as a context manager; outside it, the line is gone.

    Attributes:
        loaded: whether the edit had to wait until the model was in memory.
    """

    def __init__(self) -> None:
        self.loaded = False
        super().__init__(
            "starting", BarColumn(bar_width=30), TaskProgressColumn(), TextColumn("{task.fields[note]}", markup=False)
        )

    def show(self, notification: msgspec.Struct) -> None:
        """Draw where the edit is; other notifications than `edit/progress` change nothing."""
        if not isinstance(notification, EditProgress):
            return
        self.loaded = self.loaded or notification.stage is Stage.LOADING
        self._progress.update(
            self._task,
            description=STAGES[notification.stage],
            total=None if notification.stage is Stage.QUEUED else 100.0,
            completed=notification.percent,
            note=_note(notification),
        )


def _note(progress: EditProgress) -> str:
    if progress.stage is Stage.QUEUED and progress.queue_position:
        n_before = progress.queue_position - 1
        return f"{n_before} more before this one" if n_before else "this one is next"
    if progress.stage is Stage.DECODE and progress.n_tokens:
        return f"{progress.n_tokens:,} tokens, {progress.tokens_per_s:.0f} tokens/s"
    return ""


class PullDisplay(_Display):
    """Bytes and percent of a download. Where no terminal is, one plain line per step.

    Args:
        quiet: show nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(
            "asking", BarColumn(bar_width=30), TaskProgressColumn(), DownloadColumn(), TransferSpeedColumn()
        )
        self._quiet = quiet
        self._progress.disable = self._progress.disable or quiet
        self._said: set[str] = set()

    def show(self, notification: msgspec.Struct) -> None:
        """Draw or say where the download is; other notifications than `model/progress` change nothing."""
        if not isinstance(notification, PullProgress) or self._quiet:
            return
        if self._progress.disable:
            self._say(notification)
            return
        self._progress.update(
            self._task,
            description=STEPS.get(notification.step, notification.step),
            total=notification.total_bytes or None,
            completed=notification.done_bytes,
        )

    def _say(self, progress: PullProgress) -> None:
        if progress.step in self._said:
            return
        self._said.add(progress.step)
        words = STEPS.get(progress.step, progress.step)
        say(f"{words} {size(progress.total_bytes)}" if progress.total_bytes else words)
