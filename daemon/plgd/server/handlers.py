"""What the daemon does for each method."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import anyio
from anyio import to_thread

from plgd.config import Config
from plgd.documents.document import Document
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.drafting import settle_drafting
from plgd.edits.events import JobEvent, JobResult
from plgd.edits.job import edit_steps
from plgd.edits.request import prepare, read_text
from plgd.edits.warm_up import warm_steps
from plgd.errors import Cancelled, InvalidParams, PlgdError, VersionMismatch
from plgd.memory import resident_bytes
from plgd.paths import Paths
from plgd.protocol import methods
from plgd.protocol.base import NoParams
from plgd.protocol.daemon import (
    PROTOCOL_VERSION,
    DoctorResult,
    HelloParams,
    HelloResult,
    PingResult,
    StatusResult,
    StopParams,
    StopResult,
)
from plgd.protocol.documents import WarmParams, WarmResult
from plgd.protocol.edits import EditParams, EditResult
from plgd.protocol.envelope import ErrorData
from plgd.protocol.models import ModelInfo, ModelListResult, ModelParams, PullParams, PullProgress
from plgd.server.dispatch import Call, Dispatcher, VersionRefused
from plgd.server.doctor import check_daemon
from plgd.server.document_handlers import DocumentHandlers
from plgd.server.edit_feed import EditFeed, replaced_result
from plgd.server.edit_log import EditNotes, logged_edit
from plgd.server.lifecycle import Lifecycle
from plgd.server.model_store import MakeModelStore, ModelStore
from plgd.server.scheduler import Ending, Job
from plgd.server.status import describe_documents, describe_warmth, say_state
from plgd.server.worker import Worker
from plgd.version import __version__

__all__ = ("Handlers",)

ValueT = TypeVar("ValueT")

# Nobody's version is longer, and Python refuses to read numbers of thousands of digits.
_VERSION_LIMIT: Final = 100


class Handlers:
    """One method per method of the protocol; they run on the event loop and wait for nothing that is slow.

    Args:
        config: the user's settings.
        paths: the user's folders.
        worker: owns the model.
        make_models: makes the store of models; called at the first need, in a thread.
        lifecycle: knows whether the daemon is about to stop.
        request_stop: makes it stop, after finishing its edits or after cancelling them.
        documents: those that are open, and the versions of those seen.
        store: what is kept of them between edits; the worker's.
        on_read: told of every file that was read for an edit or to become warm.
    """

    def __init__(
        self,
        config: Config,
        paths: Paths,
        worker: Worker[JobEvent, JobResult],
        make_models: MakeModelStore,
        lifecycle: Lifecycle,
        request_stop: Callable[[bool], None],
        *,
        documents: DocumentStore,
        store: WarmStore,
        on_read: Callable[[Path], None],
    ) -> None:
        self._config = config
        self._paths = paths
        self._worker = worker
        self._make_models = make_models
        self._lifecycle = lifecycle
        self._request_stop = request_stop
        self._documents = documents
        self._store = store
        self._on_read = on_read
        self._models: ModelStore | None = None
        self._making_models = anyio.Lock()
        self._feeds: dict[str, EditFeed] = {}

    def register(self, dispatcher: Dispatcher) -> None:
        """Let every method be answered."""
        DocumentHandlers(self._documents, self._store, self._worker.wake).register(dispatcher)
        dispatcher.add(methods.HELLO, self.hello)
        dispatcher.add(methods.PING, self.ping)
        dispatcher.add(methods.STATUS, self.status)
        dispatcher.add(methods.EDIT, self.edit)
        dispatcher.add(methods.DOCUMENT_WARM, self.document_warm)
        dispatcher.add(methods.STOP, self.stop)
        dispatcher.add(methods.MODEL_LIST, self.model_list)
        dispatcher.add(methods.MODEL_INFO, self.model_info)
        dispatcher.add(methods.MODEL_USE, self.model_use)
        dispatcher.add(methods.MODEL_PULL, self.model_pull)
        dispatcher.add(methods.DOCTOR, self.doctor)

    async def hello(self, _call: Call, params: HelloParams) -> HelloResult:
        """Compare versions; a daemon makes room for its client's unless that is older, or the same in all."""
        if len(params.version) > _VERSION_LIMIT:
            raise InvalidParams(f"hello: a version has at most {_VERSION_LIMIT} characters (field `version`).")
        client, own = _release(params.version), _release(__version__)
        is_other = client > own or params.protocol != PROTOCOL_VERSION
        if is_other and client >= own:
            self._request_stop(True)
        if is_other:
            raise VersionRefused(
                VersionMismatch.between(params.version, __version__),
                ErrorData(daemon_version=__version__, stopping=self._lifecycle.stopping),
            )
        return HelloResult(protocol=PROTOCOL_VERSION, version=__version__, pid=os.getpid())

    async def ping(self, _call: Call, _params: NoParams) -> PingResult:
        """Do nothing."""
        return PingResult()

    async def status(self, _call: Call, _params: NoParams) -> StatusResult:
        """Report from memory what everybody was doing last."""
        worker = self._worker.state
        jobs = tuple(feed.info for feed in self._feeds.values())
        state, message = say_state(worker, jobs, stopping=self._lifecycle.stopping)
        return StatusResult(
            state=state,
            message=message,
            version=__version__,
            pid=os.getpid(),
            model=worker.model,
            loading_percent=worker.loading_percent,
            jobs=jobs,
            resident_bytes=resident_bytes(),
            device_bytes=worker.device_bytes,
            device=worker.device,
            socket=str(self._paths.socket),
            uptime_s=self._lifecycle.uptime_s,
            n_edits=self._lifecycle.n_edits,
            documents=describe_documents(self._documents, self._store.counts),
            warm=describe_warmth(self._store.counts),
        )

    async def edit(self, call: Call, params: EditParams) -> EditResult:
        """Check the input at once, then queue the edit and wait for it."""
        with logged_edit(params.path or params.uri) as notes:
            notes.result = await self._edit(call, params, notes)
            return notes.result

    async def _edit(self, call: Call, params: EditParams, notes: EditNotes) -> EditResult:
        received = time.monotonic()
        self._lifecycle.check_open()
        settle_drafting(params.drafting, self._config.engine)  # a mistake is told before anything is loaded
        prepared = await to_thread.run_sync(prepare, params, self._documents, call.client)
        document = prepared.document
        models = await self._need_models()
        model = notes.model = await to_thread.run_sync(models.find, params.model)
        session = secrets.token_hex(8)
        feed = EditFeed(call, session, document.shown())
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
            ),
            observer=feed,
        )
        outcome = await self._run(feed, session, job)
        self._note_read(document)
        self._lifecycle.n_edits += 1
        return outcome if isinstance(outcome, EditResult) else replaced_result(document, session, model)

    async def document_warm(self, call: Call, params: WarmParams) -> WarmResult:
        """Read a text and prefill it, in its turn with the edits."""
        received = time.monotonic()
        find = partial(read_text, params.path, self._documents, call.client)
        document = await to_thread.run_sync(find)
        models = await self._need_models()
        model = await to_thread.run_sync(models.find, params.model)
        session = secrets.token_hex(8)
        feed = EditFeed(call, session, document.shown())
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
        )
        outcome = await self._run(feed, session, job)
        self._note_read(document)
        if not isinstance(outcome, WarmResult):
            raise Cancelled
        return outcome

    def _note_read(self, document: Document) -> None:
        if document.path is not None and self._config.warm.enabled:
            self._on_read(document.path)

    async def _run(self, feed: EditFeed, session: str, job: Job[JobEvent, JobResult]) -> JobResult | Ending:
        """Queue a job and wait for its result, or for the newer job that takes its place."""
        self._lifecycle.check_open()
        self._worker.submit(job)
        self._feeds[session] = feed
        try:
            outcome = await self._wait_for(feed, job)
        finally:
            del self._feeds[session]
        if isinstance(outcome, PlgdError):
            raise outcome
        if outcome is Ending.CANCELLED:
            raise Cancelled
        return outcome

    async def _wait_for(self, feed: EditFeed, job: Job[JobEvent, JobResult]) -> JobResult | PlgdError | Ending:
        try:
            await feed.over.wait()
        except anyio.get_cancelled_exc_class():
            # The worker decides whether the cancel came in time: what it has written, it answers.
            self._worker.cancel(job)
            with anyio.CancelScope(shield=True):
                await feed.over.wait()
        return feed.outcome

    async def stop(self, _call: Call, params: StopParams) -> StopResult:
        """Begin the daemon's end and answer when its socket is gone."""
        self._request_stop(params.drain)
        await self._lifecycle.finished.wait()
        return StopResult(pid=os.getpid())

    async def model_list(self, _call: Call, _params: NoParams) -> ModelListResult:
        """List models from the disk."""
        return await to_thread.run_sync((await self._need_models()).list)

    async def model_info(self, _call: Call, params: ModelParams) -> ModelInfo:
        """Describe a model from the disk."""
        return await to_thread.run_sync((await self._need_models()).info, params.name)

    async def model_use(self, _call: Call, params: ModelParams) -> ModelInfo:
        """Choose a model; it is loaded by the next edit."""
        return await to_thread.run_sync((await self._need_models()).use, params.name)

    async def model_pull(self, call: Call, params: PullParams) -> ModelInfo:
        """Fetch a model in a thread; the conversion runs where the model runs."""
        self._lifecycle.check_open()
        models = await self._need_models()
        loop = asyncio.get_running_loop()

        def on_progress(step: str, done_bytes: int, total_bytes: int) -> None:
            progress = PullProgress(id=call.id, step=step, done_bytes=done_bytes, total_bytes=total_bytes)
            loop.call_soon_threadsafe(call.notify, methods.MODEL_PROGRESS, progress)

        def convert(gguf: Path, folder: Path) -> None:
            self._worker.run_errand(lambda backend: backend.convert(gguf, folder)).result()

        with self._lifecycle.interruptible() as interrupt:
            pull = partial(
                models.pull,
                params.name,
                force=params.force,
                convert=convert,
                on_progress=on_progress,
                cancelled=interrupt.is_set,
            )
            # Abandoned when cancelled: the thread sees the interrupt at its next chunk and ends by itself.
            return await to_thread.run_sync(pull, abandon_on_cancel=True)

    async def doctor(self, _call: Call, _params: NoParams) -> DoctorResult:
        """Look at the machine through the worker, and at the models."""
        device = asyncio.wrap_future(self._worker.run_errand(lambda backend: backend.device()))
        models = await self._need_models()
        return DoctorResult(findings=await check_daemon(self._paths, models, device))

    async def _need_models(self) -> ModelStore:
        async with self._making_models:
            if self._models is None:
                self._models = await to_thread.run_sync(self._make_models)
            return self._models


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with: 0.2.1.dev3 -> (0, 2, 1)."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
