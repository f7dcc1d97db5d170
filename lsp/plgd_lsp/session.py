"""One edit that an editor has asked for, from the request to the last hunk."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import anyio

from plgd.protocol.edits import EditResult
from plgd.text.lines import split_lines
from plgd_lsp.comment_place import CommentPlace
from plgd_lsp.line_map import LineMap
from plgd_lsp.options import Review
from plgd_lsp.places import Lines
from plgd_lsp.proposal import Proposal

__all__ = ("EditRequest", "Session", "Sessions")

# Kept for `plgd.retry` and for proposals that nobody answered; each has a copy of its document.
_KEPT: Final = 32


@dataclass(frozen=True, slots=True)
class EditRequest:
    """What was asked.

    Attributes:
        uri: of the document.
        instruction: in the user's words.
        text: the document when it was asked.
        lines: the lines of this text that may change; None for all.
        review: whether the result waits for the user.
        token: the editor's token for progress, if it has one.
        comment: the comment that the instruction was in, which goes with the edit.
    """

    uri: str
    instruction: str
    text: str
    lines: Lines | None
    review: Review
    token: str | int | None = None
    comment: CommentPlace | None = None


@dataclass(slots=True)
class Session:
    """An edit and what became of it.

    Attributes:
        request: what was asked, for the text that the model was shown last.
        is_running: the model has it, or will.
        result: the daemon's answer.
        proposal: its hunks.
        scope: cancels it.
        applying: held while the editor is asked to change its text.
    """

    request: EditRequest
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    is_running: bool = True
    result: EditResult | None = None
    proposal: Proposal | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    applying: anyio.Lock = field(default_factory=anyio.Lock)

    def move_to(self, text: str) -> None:
        """Let the request mean the same lines of another text."""
        request = self.request
        if text == request.text:
            return
        new = split_lines(text)
        moved = LineMap(split_lines(request.text), new)
        lines, comment = request.lines, request.comment
        if lines is not None:
            start = min(moved.start(lines.start), len(new))
            lines = Lines(start, min(max(moved.end(lines.end), start + 1), len(new)))
        if comment is not None:
            comment = CommentPlace(moved.start(comment.line), comment.text)
        self.request = EditRequest(
            request.uri, request.instruction, text, lines, request.review, request.token, comment
        )


class Sessions:
    """The edits that run, and the last ones that ended."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._sessions.values()))

    def add(self, session: Session) -> None:
        """Take one in; one that ended long ago goes."""
        ended = [held.id for held in self._sessions.values() if not held.is_running]
        for session_id in ended[: max(0, len(ended) - _KEPT + 1)]:
            del self._sessions[session_id]
        self._sessions[session.id] = session

    def get(self, session_id: str) -> Session | None:
        """Return one by its id."""
        return self._sessions.get(session_id)

    def drop(self, session: Session) -> None:
        """Forget one."""
        self._sessions.pop(session.id, None)
