"""Carries edits out: asks the daemon, shows progress, applies the result or proposes it, says how it ended."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Final, Literal

import anyio
from anyio.abc import TaskGroup

from plgd.errors import Cancelled, PlgdError
from plgd.protocol.base import NoParams
from plgd.protocol.edits import EditProgress, EditResult, EditStatus
from plgd.protocol.methods import STATUS
from plgd_lsp.applying import Applied, Applier
from plgd_lsp.asking import Asking
from plgd_lsp.comment_place import without_comment
from plgd_lsp.editor import Editor
from plgd_lsp.link import Link
from plgd_lsp.progress import WorkProgress
from plgd_lsp.proposal import HunkState, PlacedHunk, Proposal
from plgd_lsp.review import Reviews
from plgd_lsp.session import EditRequest, Session, Sessions
from plgd_lsp.status import StatusBoard

__all__ = ("Editing",)

_LOG: Final = logging.getLogger(__name__)

Outcome = Literal["proposed", "applied", "no_change", "conflict", "truncated", "rejected_output", "cancelled", "failed"]
# Between two looks at a daemon that is busy with something else than this editor's edits.
_WATCH_S: Final = 0.5
# How loudly each is told to users whose editor does not show plgd's own notifications; the others show by themselves.
_LEVELS: Final[dict[Outcome, str]] = {
    "proposed": "info",
    "no_change": "info",
    "conflict": "warning",
    "truncated": "warning",
    "rejected_output": "warning",
    "failed": "error",
}


class Editing:
    """The edits of one editor.

    Args:
        group: owns their tasks.
        editor: who asked.
        link: the way to the daemon.
        asking: asks the daemon.
        applier: changes the editor's text.
        reviews: shows proposals.
        sessions: where the edits are kept.
        board: shows where they are.
    """

    def __init__(
        self,
        group: TaskGroup,
        editor: Editor,
        link: Link,
        asking: Asking,
        applier: Applier,
        reviews: Reviews,
        sessions: Sessions,
        board: StatusBoard,
    ) -> None:
        self._group = group
        self._editor = editor
        self._link = link
        self._asking = asking
        self._applier = applier
        self._reviews = reviews
        self._sessions = sessions
        self._board = board

    def start(self, request: EditRequest) -> Session:
        """Begin an edit; returns at once."""
        session = Session(request)
        self._sessions.add(session)
        self._group.start_soon(self._run, session)
        return session

    def cancel(self, session_id: str | None) -> list[str]:
        """Cancel an edit that runs, or all of them; return which."""
        cancelled = [session for session in self._sessions if session.is_running and session_id in {None, session.id}]
        for session in cancelled:
            session.scope.cancel()
        return [session.id for session in cancelled]

    def cancel_token(self, token: str | int) -> None:
        """Cancel the edit whose progress has a token."""
        for session in self._sessions:
            if session.is_running and token in {session.request.token, f"plgd-{session.id}"}:
                session.scope.cancel()

    async def accept(self, session: Session, proposal: Proposal, ids: Collection[int] | None) -> Applied:
        """Put hunks into the editor's text; without ids, all that are still open."""
        async with session.applying:
            wanted = ids
            if wanted is None:
                placed = self._reviews.place(session)
                wanted = {hunk.id for hunk in placed if hunk.state in {HunkState.OPEN, HunkState.CONFLICT}}
            applied = await self._applier.apply(session, proposal, wanted)
        self._reviews.show(session)
        return applied

    async def _run(self, session: Session) -> None:
        progress = WorkProgress(self._editor, session.request.token, session.id, session.request.instruction)
        outcome: Outcome = "cancelled"
        message = "Cancelled; nothing was changed."
        try:
            with session.scope:
                await progress.begin()
                outcome, message = await self._carry_out(session, progress)
        except Cancelled:
            pass
        except PlgdError as error:
            outcome, message = "failed", error.message
        except Exception as error:  # noqa: BLE001  # one edit's failure is no other's
            _LOG.exception("an edit failed")
            outcome, message = "failed", f"The language server failed: {error!r}."
        session.is_running = False
        self._board.note_end(session.id)
        progress.end(message)
        self._finish(session, outcome, message)
        await self._watch_daemon()

    async def _watch_daemon(self) -> None:
        """Ask the daemon how it is until it rests.

        What it is still giving up, or does for others, ends without a word to this editor.
        """
        while (client := self._link.connected) is not None:
            try:
                result = await client.call(STATUS, NoParams())
            except PlgdError as error:
                _LOG.info("no status: %s", error)
                return
            self._board.note_daemon(result)
            if not result.jobs or any(session.is_running for session in self._sessions):
                return
            await anyio.sleep(_WATCH_S)

    async def _carry_out(self, session: Session, progress: WorkProgress) -> tuple[Outcome, str]:
        def note(message: EditProgress) -> None:
            progress.report(message)
            self._board.note_progress(session.id, message)

        session.result = result = await self._asking.ask(session, note)
        words = " ".join(result.warnings)
        match result.status:
            case EditStatus.NO_CHANGE:
                return "no_change", words or "The model changed nothing."
            case EditStatus.TRUNCATED:
                return "truncated", words or "The model's reply was cut off; nothing was changed."
            case EditStatus.REJECTED_OUTPUT:
                return "rejected_output", words or "The model's reply could not be used; nothing was changed."
            case EditStatus.CANCELLED | EditStatus.CONFLICT:
                return "cancelled", words or "A newer edit of the same lines took its place."
            case EditStatus.PROPOSED | EditStatus.APPLIED:
                # From here on it is too late to cancel: the editor may have changed its text already.
                with anyio.CancelScope(shield=True):
                    ended = await self._propose(session, result)
                return ended  # noqa: RET504  # for mypy, a scope may swallow what happens in it

    async def _propose(self, session: Session, result: EditResult) -> tuple[Outcome, str]:
        request = session.request
        new_text = result.new_text
        proposal = Proposal(request.text, new_text)
        if request.comment is not None:
            proposal = Proposal(request.text, without_comment(proposal.base, new_text, request.comment))
        if not proposal.hunks:
            return "no_change", "The model changed nothing."
        session.proposal = proposal
        n_hunks = len(proposal.hunks)
        proposed = f"{n_hunks} change{'s are' if n_hunks > 1 else ' is'} proposed."
        if not self._editor.abilities.proposals:
            proposed += " Code actions accept and reject them."
        can_ask = self._editor.abilities.annotations and not self._editor.abilities.proposals
        if request.review == "preview" and not can_ask:
            self._reviews.show(session)
            return "proposed", proposed
        async with session.applying:
            applied = await self._applier.apply(session, proposal, None, ask_first=request.review == "preview")
        if applied.ids and not applied.clashes and not applied.reason:
            return "applied", _applied_words(result, n_hunks)
        self._reviews.show(session)
        if request.review == "preview":
            return "proposed", proposed
        if applied.clashes:
            return "conflict", _conflict_words(applied.clashes)
        return "failed", f"The edit was not applied: {applied.reason}. It is kept as a proposal."

    def _finish(self, session: Session, outcome: Outcome, message: str) -> None:
        finished: dict[str, object] = {"session": session.id, "uri": session.request.uri}
        finished |= {"status": outcome, "message": message}
        if session.result is not None:
            finished["daemonMs"] = session.result.stats.total_ms
        self._editor.notify("plgd/finished", finished)
        if not self._editor.abilities.proposals and outcome in _LEVELS:
            self._editor.show(_LEVELS[outcome], f"plgd: {message}")


def _applied_words(result: EditResult, n_hunks: int) -> str:
    stats = result.stats
    return (
        f"{n_hunks} change{'s' if n_hunks > 1 else ''}: {stats.output_tokens} tokens in {stats.total_ms / 1000:.1f} s, "
        f"{stats.accepted_prediction_tokens} drafted and accepted."
    )


def _conflict_words(clashes: Collection[PlacedHunk]) -> str:
    first = min(hunk.lines.start for hunk in clashes) + 1
    return (
        f"The text was changed while the model worked, at line {first}; nothing was applied. "
        "The edit is kept as a proposal."
    )
