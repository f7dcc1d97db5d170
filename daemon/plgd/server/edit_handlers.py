"""What the daemon does for edits, and for texts that are to become warm: both are jobs on the model."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from anyio import to_thread

from plgd.config import Config
from plgd.documents.document import Document
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.answer import Answer
from plgd.edits.drafting import settle_drafting
from plgd.edits.job import edit_steps
from plgd.edits.journal import Journal
from plgd.edits.request import PreparedEdit, prepare, read_text
from plgd.edits.timing import Timing
from plgd.edits.warm_up import warm_steps
from plgd.errors import Cancelled
from plgd.protocol import methods
from plgd.protocol.daemon import JobInfo
from plgd.protocol.documents import WarmParams, WarmResult
from plgd.protocol.edits import EditParams, EditResult, EditStatus, Priority
from plgd.server.deadline import Deadline
from plgd.server.dispatch import Call, Dispatcher
from plgd.server.edit_feed import EditFeed
from plgd.server.edit_log import EditNotes, logged_edit
from plgd.server.job import Job
from plgd.server.job_runner import JobRunner
from plgd.server.jobs import JobEvent, JobResult
from plgd.server.kept_replies import promised_file
from plgd.server.lifecycle import Lifecycle
from plgd.server.many_handlers import ManyHandlers
from plgd.server.model_handlers import ModelHandlers
from plgd.server.repeats import Promise, Repeats
from plgd.server.session_handlers import SessionHandlers
from plgd.server.sessions import Sessions
from plgd.server.worker import Worker

__all__ = ("EditHandlers",)


class EditHandlers:
    """Checks requests at once, queues their jobs and waits for them.

    Args:
        config: the user's settings.
        worker: owns the model.
        models: finds the model that a request names.
        lifecycle: knows whether the daemon is about to stop.
        documents: those that are open, and the versions of those seen.
        store: what is kept of them between edits; the worker's.
        repeats: gives a repeated request the reply of the first.
        journal: of edits of several files.
        on_read: told of every file that was read for an edit or to become warm.

    Attributes:
        runner: hands jobs to the worker.
    """

    def __init__(
        self,
        config: Config,
        worker: Worker[JobEvent, JobResult],
        models: ModelHandlers,
        lifecycle: Lifecycle,
        *,
        documents: DocumentStore,
        store: WarmStore,
        repeats: Repeats,
        journal: Journal,
        on_read: Callable[[Path], None],
    ) -> None:
        self._config = config
        self._models = models
        self._lifecycle = lifecycle
        self._documents = documents
        self._store = store
        self._repeats = repeats
        self._on_read = on_read
        self._sessions = Sessions()
        self.runner = JobRunner(worker, lifecycle)
        self._many = ManyHandlers(
            config,
            models,
            self.runner,
            lifecycle,
            documents=documents,
            store=store,
            sessions=self._sessions,
            repeats=repeats,
            journal=journal,
            carry_out=self._carry_out,
        )

    def register(self, dispatcher: Dispatcher) -> None:
        """Let every method be answered."""
        dispatcher.add(methods.EDIT, self.edit)
        dispatcher.add(methods.DOCUMENT_WARM, self.warm)
        self._many.register(dispatcher)
        SessionHandlers(self._sessions, lambda: self.jobs, self._documents, self._lifecycle).register(dispatcher)

    @property
    def jobs(self) -> tuple[JobInfo, ...]:
        """The jobs that wait or run."""
        return self.runner.jobs

    async def edit(self, call: Call, params: EditParams) -> EditResult:
        """Check the input at once, then queue the edit and wait for it; a repeated one has its reply already."""

        async def run(promise: Promise) -> EditResult:
            with logged_edit(params.path or params.uri) as notes:
                notes.result = await self._edit(call, params, notes, promise)
                return notes.result

        return await self._repeats.once(methods.EDIT, params, params.idempotency_key, run, keeps=_is_answer)

    async def _edit(self, call: Call, params: EditParams, notes: EditNotes, promise: Promise) -> EditResult:
        received = time.monotonic()
        self._lifecycle.check_open()
        settle_drafting(params.drafting, self._config.engine)  # a mistake is told before anything is loaded
        prepared = await to_thread.run_sync(prepare, params, self._documents, call.client)
        model = notes.model = await self._models.find(params.model)
        return await self._carry_out(call, prepared, model, received, promise, priority=Priority.INTERACTIVE)

    async def _carry_out(
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
        """Queue an edit that was checked, and wait for it."""
        document = prepared.document
        session = secrets.token_hex(8)
        priority = prepared.params.priority or priority
        feed = EditFeed(call, session, document.shown(), priority, file=file)
        job: Job[JobEvent, JobResult] = Job(
            model=model,
            key=(document.path, prepared.lines) if document.path is not None else None,
            start=lambda loaded: edit_steps(
                prepared,
                session=session,
                received=received,
                documents=self._documents,
                model=loaded,
                config=self._config,
                warm=self._store if self._config.warm.enabled else None,
                before_write=lambda result: promise(result, [promised_file(result)]),
            ),
            observer=feed,
            priority=priority,
            owner=call.client,
        )
        deadline = Deadline.after(received, prepared.params.deadline_ms)
        outcome = await self.runner.run(feed, session, job, deadline)
        self._note_read(document)
        self._lifecycle.n_edits += 1
        if isinstance(outcome, EditResult):
            result = outcome
        else:
            answer = Answer(prepared, session, model, Timing(time.monotonic, received))
            result = answer.unchanged(EditStatus.CANCELLED, "A newer edit of the same lines took its place.")
        self._sessions.keep(document, result)
        return result

    async def warm(self, call: Call, params: WarmParams) -> WarmResult:
        """Read a text and prefill it, in its turn with the edits."""
        received = time.monotonic()
        find = partial(read_text, params.path, self._documents, call.client)
        document = await to_thread.run_sync(find)
        model = await self._models.find(params.model)
        session = secrets.token_hex(8)
        feed = EditFeed(call, session, document.shown(), Priority.BATCH)
        job: Job[JobEvent, JobResult] = Job(
            model=model,
            key=("warm", document.path),
            start=lambda loaded: warm_steps(
                document,
                received=received,
                model=loaded,
                warm=self._store,
                slice_tokens=self._config.engine.prefill_slice,
            ),
            observer=feed,
            priority=Priority.BATCH,
            owner=call.client,
        )
        outcome = await self.runner.run(feed, session, job)
        self._note_read(document)
        if not isinstance(outcome, WarmResult):
            raise Cancelled
        return outcome

    def _note_read(self, document: Document) -> None:
        if document.path is not None and self._config.warm.enabled:
            self._on_read(document.path)


def _is_answer(result: EditResult) -> bool:
    return result.status is not EditStatus.CANCELLED
