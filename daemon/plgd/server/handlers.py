"""What the daemon does for each method."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from anyio import to_thread

from plgd.config import Config
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.journal import Journal
from plgd.errors import InvalidParams, VersionMismatch
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
from plgd.protocol.discovery import DiscoverResult
from plgd.protocol.envelope import ErrorData
from plgd.protocol.openrpc import openrpc_document
from plgd.server.completer import DaemonCompleter
from plgd.server.dispatch import Call, Dispatcher, VersionRefused
from plgd.server.doctor import check_daemon
from plgd.server.document_handlers import DocumentHandlers
from plgd.server.edit_handlers import EditHandlers
from plgd.server.jobs import JobEvent, JobResult
from plgd.server.kept_replies import KeptReplies
from plgd.server.lifecycle import Lifecycle
from plgd.server.model_handlers import ModelHandlers
from plgd.server.model_store import MakeModelStore
from plgd.server.repeats import Repeats
from plgd.server.status_report import StatusReport
from plgd.server.worker import Worker
from plgd.version import __version__

__all__ = ("Handlers",)

# Nobody's version is longer, and Python refuses to read numbers of thousands of digits.
_VERSION_LIMIT: Final = 100


class Handlers:
    """The daemon's own methods, with those of models, edits and documents beside them; nothing slow runs on the loop.

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

    Attributes:
        completer: writes completions, for who does not speak the protocol.
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
        self._paths = paths
        self._worker = worker
        self._lifecycle = lifecycle
        self._request_stop = request_stop
        self._documents = documents
        self._store = store
        self._models = ModelHandlers(make_models, worker, lifecycle)
        self._edits = EditHandlers(
            config,
            worker,
            self._models,
            lifecycle,
            documents=documents,
            store=store,
            repeats=Repeats(KeptReplies(paths.replies_dir)),
            journal=Journal(paths.journal_dir),
            on_read=on_read,
        )
        self._report = StatusReport(
            worker, lambda: self._edits.jobs, lifecycle, documents, store, socket=str(paths.socket)
        )
        self.completer = DaemonCompleter(config, self._edits.runner, self._models, lifecycle, store)

    def register(self, dispatcher: Dispatcher) -> None:
        """Let every method be answered."""
        self._models.register(dispatcher)
        self._edits.register(dispatcher)
        DocumentHandlers(self._documents, self._store, self._worker.wake).register(dispatcher)
        dispatcher.add(methods.HELLO, self.hello)
        dispatcher.add_quick(methods.PING, self.ping)
        dispatcher.add_quick(methods.STATUS, self.status)
        dispatcher.add(methods.STOP, self.stop)
        dispatcher.add(methods.DOCTOR, self.doctor)
        dispatcher.add(methods.DISCOVER, self.discover)

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

    def ping(self, _params: NoParams) -> PingResult:
        """Do nothing."""
        return PingResult()

    def status(self, _params: NoParams) -> StatusResult:
        """Report from memory what everybody was doing last."""
        return self._report.make()

    async def stop(self, _call: Call, params: StopParams) -> StopResult:
        """Begin the daemon's end and answer when its socket is gone."""
        self._request_stop(params.drain)
        await self._lifecycle.finished.wait()
        return StopResult(pid=os.getpid())

    async def doctor(self, _call: Call, _params: NoParams) -> DoctorResult:
        """Look at the machine through the worker, and at the models."""
        device = asyncio.wrap_future(self._worker.run_errand(lambda backend: backend.device()))
        models = await self._models.store()
        return DoctorResult(findings=await check_daemon(self._paths, models, device))

    async def discover(self, _call: Call, _params: NoParams) -> DiscoverResult:
        """Describe the protocol; the first time takes a tenth of a second."""
        return await to_thread.run_sync(openrpc_document)


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with: 0.2.1.dev3 -> (0, 2, 1)."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
