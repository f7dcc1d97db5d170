"""An edit's progress as the editor shows it."""

from __future__ import annotations

from typing import Final

from lsprotocol import types

from plgd.protocol.edits import EditProgress, Stage
from plgd_lsp.editor import Editor
from plgd_lsp.status import describe_progress

__all__ = ("WorkProgress", "shorten")

_TITLE_CHARACTERS: Final = 60


class WorkProgress:
    """Reports on one edit, if the editor wants to show it.

    Args:
        editor: where it is shown.
        token: the editor's own token; None asks it to show one of the server's.
        session: the edit's id.
        instruction: what is done.
    """

    def __init__(self, editor: Editor, token: str | int | None, session: str, instruction: str) -> None:
        self.token: str | int = token if token is not None else f"plgd-{session}"
        self._editor = editor
        self._is_editors = token is not None
        self._session = session
        self._title = f"plgd: {shorten(instruction, _TITLE_CHARACTERS)}"
        self._is_shown = False
        self._percent = 0

    async def begin(self) -> None:
        """Let it appear."""
        self._is_shown = self._is_editors or await self._editor.create_progress(str(self.token))
        if self._is_shown:
            self._editor.progress(
                self.token, types.WorkDoneProgressBegin(title=self._title, cancellable=True, percentage=0)
            )

    def report(self, progress: EditProgress) -> None:
        """Say how far it is; only what is written of the new text counts as percent."""
        if not self._is_shown:
            return
        if progress.stage is Stage.DECODE:
            self._percent = max(self._percent, int(progress.percent))
        message = describe_progress(self._session, progress, None).message
        self._editor.progress(self.token, types.WorkDoneProgressReport(message=message, percentage=self._percent))

    def end(self, message: str) -> None:
        """Let it disappear."""
        if self._is_shown:
            self._editor.progress(self.token, types.WorkDoneProgressEnd(message=message))
            self._is_shown = False


def shorten(text: str, n_characters: int) -> str:
    """Return a text as one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= n_characters else line[: n_characters - 1].rstrip() + "…"
