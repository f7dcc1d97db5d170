"""Puts hunks into the editor's text, and sees for itself that they are there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import anyio

from plgd_lsp.editor import Editor
from plgd_lsp.mirror import Mirror
from plgd_lsp.progress import shorten
from plgd_lsp.proposal import HunkState, PlacedHunk, Proposal
from plgd_lsp.session import Session
from plgd_lsp.workspace_edit import make_edit

__all__ = ("Applied", "Applier")

# A user who types without pause changes the text between the server's look and the editor's.
_TRIES: Final = 5
# Editors send changes in bundles, some tenths of a second late.
_CHANGE_S: Final = 1.0
_CONFIRMATION_S: Final = 2.0
# Emacs sends them when its user pauses.
_SILENCE_S: Final = 60.0
_LABEL_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of the hunks that were to be applied.

    Attributes:
        ids: those that are in the text now.
        clashes: those whose lines the user has changed.
        reason: why the others are not in the text; empty when there are none.
    """

    ids: tuple[int, ...] = ()
    clashes: tuple[PlacedHunk, ...] = ()
    reason: str = ""


class Applier:
    """Applies hunks of proposals.

    Args:
        editor: who changes the text.
        mirror: where the change shows.
    """

    def __init__(self, editor: Editor, mirror: Mirror) -> None:
        self._editor = editor
        self._mirror = mirror
        self._changed = anyio.Event()
        mirror.listen(self._note_change)

    async def apply(
        self, session: Session, proposal: Proposal, ids: Collection[int] | None, *, ask_first: bool = False
    ) -> Applied:
        """Apply hunks as one edit, moved to wherever their lines are now.

        Args:
            session: whose they are.
            proposal: the session's.
            ids: which; None for all that are open, and then all or none.
            ask_first: let the editor ask its user.
        """
        reason = ""
        for _ in range(_TRIES):
            document = self._mirror.get(session.request.uri)
            if document is None:
                return Applied(reason="the document was closed")
            placed = [hunk for hunk in proposal.place(document.lines) if ids is None or hunk.id in ids]
            clashes = tuple(hunk for hunk in placed if hunk.state is HunkState.CONFLICT)
            done = tuple(hunk.id for hunk in placed if hunk.state is HunkState.ACCEPTED)
            states = {HunkState.OPEN} if ids is None else {HunkState.OPEN, HunkState.REJECTED}
            chosen = [hunk for hunk in placed if hunk.state in states]
            if not chosen or (clashes and ids is None):
                return Applied(done, clashes)
            label = f"plgd: {shorten(session.request.instruction, _LABEL_CHARACTERS)}"
            edit = make_edit(
                document,
                chosen,
                encoding=self._mirror.encoding,
                abilities=self._editor.abilities,
                label=label,
                ask_first=ask_first,
            )
            version, text = document.version, document.text
            answer = await self._editor.apply(edit, label)
            chosen_ids = tuple(hunk.id for hunk in chosen)
            if answer.applied:
                if await self._confirm(session, proposal, chosen_ids, version):
                    proposal.accept((*done, *chosen_ids))
                    return Applied((*done, *chosen_ids), clashes)
                reason = "the editor said that it applied the edit, but its text says otherwise"
                if document.version == version:
                    break
                # Neovim drops an edit for an older text and says that it was applied.
                continue
            reason = (answer.failure_reason or "the editor did not apply it").rstrip(".")
            if ask_first or not await self._wait_other(session.request.uri, version, text):
                break
        return Applied(reason=reason or "its text keeps changing")

    async def _confirm(self, session: Session, proposal: Proposal, ids: Collection[int], version: int) -> bool:
        """Wait until the text that the editor tells has the hunks; the version is the one before them."""
        with anyio.move_on_after(_SILENCE_S) as waiting:
            while True:
                changed = self._changed
                document = self._mirror.get(session.request.uri)
                if document is None:
                    return False
                if proposal.is_in(document.lines, ids):
                    return True
                if document.version != version:
                    waiting.deadline = min(waiting.deadline, anyio.current_time() + _CONFIRMATION_S)
                await changed.wait()
        return False

    async def _wait_other(self, uri: str, version: int, text: str) -> bool:
        """Wait for the change that made the editor refuse; false when there is none."""
        with anyio.move_on_after(_CHANGE_S):
            while True:
                changed = self._changed
                document = self._mirror.get(uri)
                if document is None or document.version != version or document.text != text:
                    return True
                await changed.wait()
        return False

    def _note_change(self, _uri: str) -> None:
        self._changed.set()
        self._changed = anyio.Event()
