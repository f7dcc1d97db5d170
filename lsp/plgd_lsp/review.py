"""Shows proposals to the editor, and shows them again when their text has changed."""

from __future__ import annotations

from typing import Any, Final

import anyio
import msgspec

from plgd_lsp.editor import Editor
from plgd_lsp.hints import hints
from plgd_lsp.mirror import Mirror, MirroredDocument
from plgd_lsp.places import Lines, range_of
from plgd_lsp.proposal import HunkState, PlacedHunk, Proposal
from plgd_lsp.session import Session, Sessions

__all__ = ("Reviews", "left")

# Typing comes in bursts; places are found again when it pauses.
_PAUSE_S: Final = 0.1


class Reviews:
    """Proposals that wait for their user.

    Args:
        editor: where they are shown.
        mirror: the texts that they are for.
        sessions: whose they are.
    """

    def __init__(self, editor: Editor, mirror: Mirror, sessions: Sessions) -> None:
        self._editor = editor
        self._mirror = mirror
        self._sessions = sessions
        self._shown: dict[str, tuple[PlacedHunk, ...]] = {}
        self._changed = anyio.Event()
        self._stale: set[str] = set()
        self._hinted: set[str] = set()
        mirror.listen(self._note_change)

    async def run(self) -> None:
        """Show proposals again whenever their text has changed, for ever."""
        while True:
            await self._changed.wait()
            await anyio.sleep(_PAUSE_S)
            self._changed = anyio.Event()
            stale, self._stale = self._stale, set()
            for session in self.open_in(stale):
                self.show(session)

    def open_in(self, uris: set[str]) -> list[Session]:
        """Return the sessions with a proposal for documents."""
        return [
            session
            for session in self._sessions
            if session.proposal is not None and session.id in self._shown and session.request.uri in uris
        ]

    def place(self, session: Session) -> tuple[PlacedHunk, ...]:
        """Return a session's hunks where they are now; none when its document was closed."""
        document = self._mirror.get(session.request.uri)
        if document is None or session.proposal is None:
            return ()
        return session.proposal.place(document.lines)

    def show(self, session: Session) -> None:
        """Tell the editor where the hunks are and what became of them, unless it knows."""
        document = self._mirror.get(session.request.uri)
        if document is None or session.proposal is None:
            self._shown.pop(session.id, None)
            session.proposal = None
            return
        placed = session.proposal.place(document.lines)
        if self._shown.get(session.id) != placed:
            self._shown[session.id] = placed
            self._editor.notify("plgd/proposal", self._describe(session, session.proposal, document, placed))
            self._hint(document)

    def waiting_in(self, uri: str) -> list[Session]:
        """Return the sessions whose hunks in a document wait to be accepted or rejected, the newest first."""
        return [session for session in self.open_in({uri}) if left(self._shown[session.id])][::-1]

    def _hint(self, document: MirroredDocument) -> None:
        """Show what waits as diagnostics where no plug-in shows it."""
        if self._editor.abilities.proposals:
            return
        lines, encoding = document.lines, self._mirror.encoding
        found = [
            hint
            for session in self.waiting_in(document.uri)
            for hint in hints(self._shown[session.id], lines, encoding)
        ]
        if found or document.uri in self._hinted:
            self._hinted.add(document.uri)
            self._editor.diagnose(document.uri, document.version, found)

    def _describe(
        self, session: Session, proposal: Proposal, document: MirroredDocument, placed: tuple[PlacedHunk, ...]
    ) -> dict[str, Any]:
        lines, encoding, request = document.lines, self._mirror.encoding, session.request
        result = session.result
        return {
            "session": session.id,
            "uri": document.uri,
            "version": document.version,
            "instruction": request.instruction,
            "range": None if request.lines is None else range_of(_clamped(request.lines, len(lines)), lines, encoding),
            "hunks": [
                {
                    "id": hunk.id,
                    "range": range_of(hunk.lines, lines, encoding),
                    "oldText": "".join(hunk.old_lines),
                    "newText": "".join(hunk.new_lines),
                    "state": hunk.state.value,
                }
                for hunk in placed
            ],
            "newText": proposal.new_text,
            "warnings": list(result.warnings) if result is not None else [],
            "stats": msgspec.to_builtins(result.stats) if result is not None else {},
        }

    def _note_change(self, uri: str) -> None:
        if self._mirror.get(uri) is None:
            # At once: under the same name the editor may open another text in the next moment.
            for session in self._sessions:
                if session.request.uri == uri:
                    session.proposal = None
                    self._shown.pop(session.id, None)
            if uri in self._hinted:
                self._hinted.discard(uri)
                self._editor.diagnose(uri, None, [])
            return
        if any(session.request.uri == uri for session in self._sessions if session.id in self._shown):
            self._stale.add(uri)
            self._changed.set()


def left(placed: tuple[PlacedHunk, ...]) -> list[int]:
    """Return the hunks that still wait for their user."""
    return [hunk.id for hunk in placed if hunk.state in {HunkState.OPEN, HunkState.CONFLICT}]


def _clamped(lines: Lines, n_lines: int) -> Lines:
    return Lines(min(lines.start, n_lines), min(lines.end, n_lines))
