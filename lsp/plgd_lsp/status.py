"""What the editor's status line shows: what the daemon is doing, or where this editor's own edits are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from plgd.protocol.daemon import StatusResult
from plgd.protocol.edits import EditProgress, Stage
from plgd_lsp.link import LinkState

__all__ = ("Status", "StatusBoard", "describe_daemon", "describe_progress")

Kind = Literal["idle", "starting", "loading", "busy", "error", "absent"]

_DAEMON_KINDS: Final[dict[str, Kind]] = {
    "idle": "idle",
    "ready": "idle",
    "loading": "loading",
    "busy": "busy",
    "failed": "error",
    "stopping": "absent",
}
_LINK_KINDS: Final[dict[LinkState, Kind]] = {
    "absent": "absent",
    "starting": "starting",
    "connected": "idle",
    "failed": "error",
}


class Status(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Notification `plgd/status`.

    Attributes:
        kind: one word for an icon.
        message: one sentence for a person.
        model: the model in memory or on its way there.
        busy: an edit runs or waits.
        percent: how far the load or the edit is.
        session: this editor's edit that it is about.
        tokens_per_second: of the reply so far.
    """

    kind: Kind
    message: str
    model: str | None
    busy: bool
    percent: int | None = None
    session: str | None = None
    tokens_per_second: float | None = None


class StatusBoard:
    """Knows the newest of everything and tells the editor when what it shows changes.

    Args:
        tell: sends the notification.
    """

    def __init__(self, tell: Callable[[Status], None]) -> None:
        self._tell = tell
        self._daemon = Status(kind="absent", message="The daemon was not needed yet.", model=None, busy=False)
        self._sessions: dict[str, Status] = {}
        self._told: Status | None = None

    @property
    def now(self) -> Status:
        """What there is to show: an edit of this editor, else the daemon."""
        return next(reversed(self._sessions.values()), self._daemon)

    def note_link(self, state: LinkState, message: str) -> None:
        """Note that the connection to the daemon came or went."""
        self._daemon = Status(
            kind=_LINK_KINDS[state],
            message=message,
            model=None if state != "connected" else self._daemon.model,
            busy=False,
        )
        self._update()

    def note_daemon(self, result: StatusResult) -> None:
        """Note what the daemon says of itself."""
        self._daemon = describe_daemon(result)
        self._update()

    def note_progress(self, session: str, progress: EditProgress) -> None:
        """Note where an edit is."""
        self._sessions[session] = describe_progress(session, progress, self._daemon.model)
        self._update()

    def note_end(self, session: str) -> None:
        """Note that an edit has ended."""
        self._sessions.pop(session, None)
        self._update()

    def _update(self) -> None:
        if self.now != self._told:
            self._told = self.now
            self._tell(self.now)


def describe_daemon(result: StatusResult) -> Status:
    """Put the daemon's own words into the editor's."""
    return Status(
        kind=_DAEMON_KINDS[result.state],
        message=result.message,
        model=result.model or None,
        busy=bool(result.jobs),
        percent=int(result.loading_percent) if result.state == "loading" else None,
    )


def describe_progress(session: str, progress: EditProgress, model: str | None) -> Status:
    """Say where an edit is."""
    return Status(
        kind="loading" if progress.stage is Stage.LOADING else "busy",
        message=_words(progress),
        model=model,
        busy=True,
        percent=int(progress.percent),
        session=session,
        tokens_per_second=round(progress.tokens_per_s, 1) or None,
    )


def _words(progress: EditProgress) -> str:
    match progress.stage:
        case Stage.QUEUED:
            return f"Waits for {progress.queue_position} before it." if progress.queue_position else "Waits."
        case Stage.LOADING:
            return f"Loads the model, {progress.percent:.0f} %."
        case Stage.PREFILL:
            return "Reads the file."
        case Stage.DECODE | Stage.APPLY:
            return f"{progress.tokens_per_s:.0f} tokens/s"
