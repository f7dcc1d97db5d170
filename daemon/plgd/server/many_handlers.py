"""What the daemon does for edits of several files."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Sequence
from typing import Final, Protocol

import msgspec
from anyio import to_thread

from plgd.config import Config
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.drafting import settle_drafting
from plgd.edits.journal import Journal
from plgd.edits.many import edit_many_steps
from plgd.edits.request import PreparedEdit
from plgd.edits.request_many import prepare_many
from plgd.errors import Cancelled, DeadlinePassed, EngineError, InputError, PlgdError, WriteFailed
from plgd.protocol import methods
from plgd.protocol.edit_many import EditManyParams, EditManyResult, FileResult, failed_file, make_many_result
from plgd.protocol.edits import EditResult, EditStatus, Priority
from plgd.server.deadline import Deadline
from plgd.server.dispatch import Call, Dispatcher
from plgd.server.edit_feed import EditFeed
from plgd.server.job import Job
from plgd.server.job_runner import JobRunner
from plgd.server.jobs import JobEvent, JobResult
from plgd.server.kept_replies import Promised, promised_file
from plgd.server.lifecycle import Lifecycle
from plgd.server.model_handlers import ModelHandlers
from plgd.server.repeats import Promise, Repeats
from plgd.server.sessions import Sessions

__all__ = ("CarryOut", "ManyHandlers")

# Errors of one file; others would meet every file.
_OF_A_FILE: Final = (InputError, WriteFailed, EngineError, DeadlinePassed)

_LOG: Final = logging.getLogger(__name__)


class CarryOut(Protocol):
    """Queues an edit that was checked, and waits for it."""

    async def __call__(
        self,
        call: Call,
        prepared: PreparedEdit,
        model: str,
        received: float,
        promise: Promise,
        *,
        priority: Priority,
        file: int = 0,
    ) -> EditResult:
        """Return the result.

        Args:
            call: the request.
            prepared: the edit.
            model: its model's name.
            received: when the request arrived.
            promise: told the result before the file is written.
            priority: where the request names none.
            file: which of several files it is of.
        """
        ...


class ManyHandlers:
    """Carries out a request's edits one after the other, or as one job that writes all files or none.

    Args:
        config: the user's settings.
        models: finds the model that a request names.
        runner: runs the one job.
        lifecycle: knows whether the daemon is about to stop.
        documents: those that are open, and the versions of those seen.
        store: what is kept of them between edits; the worker's.
        sessions: edits that are over.
        repeats: gives a repeated request the reply of the first.
        journal: of this daemon.
        carry_out: carries out one edit of several.
    """

    def __init__(
        self,
        config: Config,
        models: ModelHandlers,
        runner: JobRunner,
        lifecycle: Lifecycle,
        *,
        documents: DocumentStore,
        store: WarmStore,
        sessions: Sessions,
        repeats: Repeats,
        journal: Journal,
        carry_out: CarryOut,
    ) -> None:
        self._config = config
        self._models = models
        self._runner = runner
        self._lifecycle = lifecycle
        self._documents = documents
        self._store = store
        self._sessions = sessions
        self._repeats = repeats
        self._journal = journal
        self._carry_out = carry_out

    def register(self, dispatcher: Dispatcher) -> None:
        """Let the method be answered."""
        dispatcher.add(methods.EDIT_MANY, self.edit_many)

    async def edit_many(self, call: Call, params: EditManyParams) -> EditManyResult:
        """Check the input at once, then carry out the edits; a repeated request has its reply already."""

        async def run(promise: Promise) -> EditManyResult:
            started = time.monotonic()
            result = await self._edit_many(call, params, promise)
            outcome = "complete" if result.complete else "not complete"
            _LOG.info(
                "edit of %d files: %s, %.0f ms", len(result.files), outcome, 1000.0 * (time.monotonic() - started)
            )
            return result

        return await self._repeats.once(methods.EDIT_MANY, params, params.idempotency_key, run, keeps=_is_answer)

    async def _edit_many(self, call: Call, params: EditManyParams, promise: Promise) -> EditManyResult:
        received = time.monotonic()
        self._lifecycle.check_open()
        for each in params.files:
            settle_drafting(each.drafting, self._config.engine)
        edits = await to_thread.run_sync(prepare_many, params, self._documents, call.client)
        names = [await self._models.find(each.model) for each in params.files]
        if params.all_or_nothing:
            return await self._together(call, edits, names[0], received, promise)
        return await self._one_by_one(call, edits, names, received, promise)

    async def _together(
        self, call: Call, edits: Sequence[PreparedEdit], model: str, received: float, promise: Promise
    ) -> EditManyResult:
        session, sessions = secrets.token_hex(8), [secrets.token_hex(8) for _ in edits]
        shown = edits[0].document.shown() + (f" and {len(edits) - 1} more" if len(edits) > 1 else "")
        priority = _most_urgent(edits)
        feed = EditFeed(call, session, shown, priority)
        job: Job[JobEvent, JobResult] = Job(
            model=model,
            key=None,
            start=lambda loaded: edit_many_steps(
                edits,
                session=session,
                sessions=sessions,
                received=received,
                documents=self._documents,
                journal=self._journal,
                model=loaded,
                config=self._config,
                warm=self._store if self._config.warm.enabled else None,
                before_write=lambda result: promise(result, _promised(result.files)),
            ),
            observer=feed,
            priority=priority,
            owner=call.client,
        )
        deadlines_ms = [each.params.deadline_ms for each in edits if each.params.deadline_ms is not None]
        deadline = Deadline.after(received, min(deadlines_ms, default=None))
        result = await self._runner.run(feed, session, job, deadline)
        if not isinstance(result, EditManyResult):
            raise Cancelled
        self._lifecycle.n_edits += len(edits)
        for edit, file in zip(edits, result.files, strict=True):
            if file.result is not None:
                self._sessions.keep(edit.document, file.result)
        return result

    async def _one_by_one(
        self, call: Call, edits: Sequence[PreparedEdit], names: Sequence[str], received: float, promise: Promise
    ) -> EditManyResult:
        session = secrets.token_hex(8)
        files: list[FileResult] = []

        def ended(words: str) -> EditManyResult:
            """Return the answer when nothing more is done."""
            rest = [failed_file(each.document.shown(), Cancelled(words)) for each in edits[len(files) :]]
            return make_many_result(session, [*files, *rest])

        def promise_more(result: msgspec.Struct, _: Sequence[Promised]) -> None:
            """Promise what is written already and the file whose turn it is."""
            if not isinstance(result, EditResult):
                raise TypeError(f"an edit of one file has no {type(result).__name__}")
            files.append(FileResult(result=result))
            try:
                promise(ended("Not begun: the daemon went away."), _promised(files))
            finally:
                files.pop()

        for place, (edit, model) in enumerate(zip(edits, names, strict=True)):
            try:
                result = await self._carry_out(
                    call, edit, model, received, promise_more, priority=Priority.BATCH, file=place
                )
                files.append(FileResult(result=result))
            except Cancelled:
                if not _promised(files):
                    raise
                # What is written is written: the client hears of it.
                return ended("Cancelled before this file; it was not changed.")
            except PlgdError as error:
                if not files and not isinstance(error, _OF_A_FILE):
                    raise
                files.append(failed_file(edit.document.shown(), error))
        return make_many_result(session, files)


def _promised(files: Sequence[FileResult]) -> list[Promised]:
    """Return what is, or is about to be, written."""
    return [
        promised_file(each.result)
        for each in files
        if each.result is not None and each.result.status is EditStatus.APPLIED
    ]


def _most_urgent(edits: Sequence[PreparedEdit]) -> Priority:
    is_urgent = any(each.params.priority is Priority.INTERACTIVE for each in edits)
    return Priority.INTERACTIVE if is_urgent else Priority.BATCH


def _is_answer(result: EditManyResult) -> bool:
    return any(each.result is not None and each.result.status is not EditStatus.CANCELLED for each in result.files)
