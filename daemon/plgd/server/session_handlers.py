"""What the daemon does for edits that are over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread

from plgd.documents.document import read_bytes
from plgd.documents.store import DocumentStore
from plgd.edits.review import Review
from plgd.errors import InputError, InvalidParams
from plgd.protocol import methods
from plgd.protocol.daemon import JobInfo
from plgd.protocol.sessions import AcceptParams, AcceptResult, FileState, RejectParams, SessionParams, SessionResult
from plgd.server.dispatch import Call, Dispatcher
from plgd.server.lifecycle import Lifecycle
from plgd.server.sessions import KeptSession, Sessions
from plgd.text.fingerprint import fingerprint

__all__ = ("SessionHandlers",)


class SessionHandlers:
    """Answers from what is kept, and from what is on disk at this moment.

    Args:
        sessions: the edits that are over.
        jobs: tells the edits that wait or run.
        documents: those that are open, and the versions of those seen.
        lifecycle: knows whether the daemon is about to stop.
    """

    def __init__(
        self,
        sessions: Sessions,
        jobs: Callable[[], Sequence[JobInfo]],
        documents: DocumentStore,
        lifecycle: Lifecycle,
    ) -> None:
        self._sessions = sessions
        self._jobs = jobs
        self._documents = documents
        self._lifecycle = lifecycle

    def register(self, dispatcher: Dispatcher) -> None:
        """Let every method be answered."""
        dispatcher.add(methods.EDIT_STATUS, self.status)
        dispatcher.add(methods.EDIT_ACCEPT, self.accept)
        dispatcher.add(methods.EDIT_REJECT, self.reject)

    async def status(self, _call: Call, params: SessionParams) -> SessionResult:
        """Say where an edit is, or what became of it and its file."""
        for job in self._jobs():
            if job.session == params.session:
                return _running(job)
        return await to_thread.run_sync(_describe, self._sessions.get(params.session))

    async def accept(self, call: Call, params: AcceptParams) -> AcceptResult:
        """Write hunks of a proposal."""
        self._lifecycle.check_open()
        review = _review(self._sessions.get(params.session), "edit/accept")
        accept = partial(review.accept, params.hunks, self._documents, call.client, dry_run=params.dry_run)
        return await to_thread.run_sync(accept)

    async def reject(self, _call: Call, params: RejectParams) -> SessionResult:
        """Decide against hunks of a proposal."""
        kept = self._sessions.get(params.session)
        review = _review(kept, "edit/reject")
        await to_thread.run_sync(review.reject, params.hunks)
        return await to_thread.run_sync(_describe, kept)


def _review(kept: KeptSession, method: str) -> Review:
    if kept.review is None:
        raise InvalidParams(f"{method}: the edit ended as {kept.ended_as.value}; it has no hunks to decide about.")
    return kept.review


def _running(job: JobInfo) -> SessionResult:
    return SessionResult(
        session=job.session,
        stage=job.stage,
        percent=job.percent,
        status=None,
        path="",
        base_fingerprint="",
        new_fingerprint="",
        hunks=(),
        file=FileState.NONE,
        file_fingerprint="",
    )


def _describe(kept: KeptSession) -> SessionResult:
    state, found = _look(kept)
    return SessionResult(
        session=kept.session,
        stage=None,
        percent=100.0,
        status=kept.status,
        path=kept.path,
        base_fingerprint=kept.base_fingerprint,
        new_fingerprint=kept.new_fingerprint,
        hunks=kept.hunks,
        file=state,
        file_fingerprint=found,
    )


def _look(kept: KeptSession) -> tuple[FileState, str]:
    """Compare the file as it is now with the texts of the session."""
    if not kept.path:
        return FileState.NONE, ""
    try:
        found = fingerprint(read_bytes(Path(kept.path)).data)
    except InputError:
        return FileState.MISSING, ""
    if found == kept.base_fingerprint:
        return FileState.BASE, found
    return (FileState.ACCEPTED if found == kept.accepted_fingerprint else FileState.OTHER), found
