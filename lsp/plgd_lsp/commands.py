"""What editors can ask for by `workspace/executeCommand`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

import msgspec

from plgd.errors import PlgdError
from plgd.protocol.base import NoParams
from plgd.protocol.methods import STATUS
from plgd_lsp.arguments import CancelArguments, EditArguments, HunkArguments, RetryArguments, read_arguments
from plgd_lsp.comment_place import CommentPlace
from plgd_lsp.editing import Editing
from plgd_lsp.link import Link
from plgd_lsp.mirror import Mirror
from plgd_lsp.options import Options
from plgd_lsp.places import NoSuchLines, lines_of
from plgd_lsp.proposal import Proposal
from plgd_lsp.refusal import bad_arguments, refused
from plgd_lsp.review import Reviews, left
from plgd_lsp.session import EditRequest, Session, Sessions
from plgd_lsp.status import StatusBoard, describe_daemon

__all__ = ("Answer", "Awaited", "Commands", "Immediate")

Answer = dict[str, Any]
Immediate = Callable[[tuple[object, ...]], Answer]
Awaited = Callable[[tuple[object, ...]], Awaitable[Answer]]


class Commands:
    """The commands of one editor.

    Args:
        mirror: the editor's texts.
        options: what the editor set.
        editing: carries edits out.
        reviews: shows proposals.
        sessions: the edits there are.
        link: the way to the daemon.
        board: what is going on.

    Attributes:
        immediate: those that are answered at once, whatever the daemon does; they mean the text as it is then.
        awaited: those that wait for the editor to change its text, or for the daemon's word.
    """

    def __init__(
        self,
        mirror: Mirror,
        options: Options,
        editing: Editing,
        reviews: Reviews,
        sessions: Sessions,
        link: Link,
        board: StatusBoard,
    ) -> None:
        self._mirror = mirror
        self._options = options
        self._editing = editing
        self._reviews = reviews
        self._sessions = sessions
        self._link = link
        self._board = board
        self.immediate: Final[dict[str, Immediate]] = {
            "plgd.edit": self._edit,
            "plgd.reject": self._reject,
            "plgd.cancel": self._cancel,
            "plgd.retry": self._retry,
        }
        self.awaited: Final[dict[str, Awaited]] = {"plgd.accept": self._accept, "plgd.status": self._status}

    def _edit(self, arguments: tuple[object, ...]) -> Answer:
        asked = read_arguments("plgd.edit", arguments, EditArguments)
        instruction = _checked(asked.instruction)
        document = self._mirror.get(asked.uri)
        if document is None:
            raise refused(f"{asked.uri} is not open in the editor. Open it first.")
        try:
            lines = lines_of(asked.range.as_range(), len(document.lines)) if asked.range is not None else None
        except NoSuchLines as error:
            raise bad_arguments(f"plgd.edit: {error}.") from error
        if lines is not None and lines.end <= lines.start:
            lines = None  # an empty text has no lines; all of it is to be rewritten
        comment = CommentPlace(asked.comment.line, asked.comment.text) if asked.comment is not None else None
        request = EditRequest(
            uri=document.uri,
            instruction=instruction,
            text=document.text,
            lines=lines,
            review=asked.review or self._options.review,
            token=asked.work_done_token,
            comment=comment,
        )
        return {"session": self._editing.start(request).id}

    async def _accept(self, arguments: tuple[object, ...]) -> Answer:
        asked = read_arguments("plgd.accept", arguments, HunkArguments)
        session, proposal = self._proposed(asked)
        applied = await self._editing.accept(session, proposal, asked.hunks)
        if applied.reason:
            raise refused(f"The edit was not applied: {applied.reason}.")
        if applied.clashes and not applied.ids:
            first = min(hunk.lines.start for hunk in applied.clashes) + 1
            raise refused(f"The text was changed at line {first} since the edit was proposed; nothing was applied.")
        return {"applied": list(applied.ids), "left": left(self._reviews.place(session))}

    def _reject(self, arguments: tuple[object, ...]) -> Answer:
        asked = read_arguments("plgd.reject", arguments, HunkArguments)
        session, proposal = self._proposed(asked)
        proposal.reject(range(len(proposal.hunks)) if asked.hunks is None else asked.hunks)
        self._reviews.show(session)
        return {"left": left(self._reviews.place(session))}

    def _cancel(self, arguments: tuple[object, ...]) -> Answer:
        asked = read_arguments("plgd.cancel", arguments, CancelArguments)
        if asked.session is not None:
            self._session(asked.session)
        return {"cancelled": self._editing.cancel(asked.session)}

    def _retry(self, arguments: tuple[object, ...]) -> Answer:
        asked = read_arguments("plgd.retry", arguments, RetryArguments)
        session = self._session(asked.session)
        document = self._mirror.get(session.request.uri)
        if document is None:
            raise refused(f"{session.request.uri} is not open in the editor any more.")
        request = replace(session.request, token=asked.work_done_token)
        if asked.instruction is not None:
            request = replace(request, instruction=_checked(asked.instruction))
        if session.is_running:
            self._editing.cancel(session.id)
        again = self._editing.start(request)
        again.move_to(document.text)
        return {"session": again.id}

    async def _status(self, _arguments: tuple[object, ...]) -> Answer:
        client = self._link.connected
        if client is not None and not self._board.now.session:
            try:
                return _plain(describe_daemon(await client.call(STATUS, NoParams())))
            except PlgdError as error:
                raise refused(error.message) from error
        return _plain(self._board.now)

    def _session(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise refused(f"There is no edit {session_id!r}, or it ended long ago.")
        return session

    def _proposed(self, asked: HunkArguments) -> tuple[Session, Proposal]:
        session = self._session(asked.session)
        if session.proposal is None or self._mirror.get(session.request.uri) is None:
            raise refused("There is nothing to accept or reject: the edit still runs, or proposed nothing.")
        unknown = [hunk for hunk in asked.hunks or () if not 0 <= hunk < len(session.proposal.hunks)]
        if unknown:
            raise bad_arguments(f"There is no hunk {unknown[0]}; the edit has {len(session.proposal.hunks)}.")
        return session, session.proposal


def _checked(instruction: str) -> str:
    if not instruction.strip():
        raise bad_arguments("The instruction is blank. Say what to change.")
    return instruction


def _plain(status: object) -> Answer:
    plain: Answer = msgspec.to_builtins(status)
    return plain
