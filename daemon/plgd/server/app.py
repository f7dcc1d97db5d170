"""The daemon, put together."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
import os
import resource
import socket
import time
from collections.abc import Callable
from contextlib import closing
from typing import Final

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from plgd.config import Config
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.journal import Journal
from plgd.edits.settle import recover
from plgd.errors import ConfigError, TooManyConnections
from plgd.http.completer import Completer, Endpoint
from plgd.paths import Paths
from plgd.protocol.envelope import encode_failure
from plgd.server.backend import Backend, MakeBackend
from plgd.server.connection import Connection
from plgd.server.dispatch import Dispatcher
from plgd.server.file_watch import FileWatch
from plgd.server.handlers import Handlers
from plgd.server.idle import IdleWork
from plgd.server.instance import Instance, peer_uid
from plgd.server.jobs import JobEvent, JobResult, doing_after
from plgd.server.kept_replies import KeptReplies
from plgd.server.lifecycle import Lifecycle
from plgd.server.model_store import MakeModelStore, ModelStore
from plgd.server.worker import Worker
from plgd.stream import Stream
from plgd.version import __version__

__all__ = ("Daemon", "make_mlx_backend", "make_pulled_models", "open_http")

# A step that takes longer than this when the daemon is to exit at once is not waited for.
_HURRY_S: Final = 10.0
# How long requests may then take to be answered.
_LAST_ANSWERS_S: Final = 5.0
# Between two looks at the socket's file.
_SOCKET_CHECK_S: Final = 5.0
# The worker ends between two steps; what takes longer (a kernel being compiled) ends with the process.
_WORKER_TIMEOUT_S: Final = 5.0
# Out of file descriptors or memory, accepting fails until something is closed.
_ACCEPT_RETRY_S: Final = 0.1
# Besides the connections: libraries, weight files, the log.
_OTHER_FILES: Final = 256

_LOG: Final = logging.getLogger(__name__)


class Daemon:
    """Serves clients until it is asked to stop or has been idle for long.

    Args:
        config: the user's settings.
        paths: the user's folders.
        make_backend: makes what loads models.
        make_models: makes the store of models.

    Attributes:
        http: the endpoint for clients that speak HTTP, where the user wants one.

    Raises:
        ConfigError: the endpoint cannot be had.
    """

    def __init__(self, config: Config, paths: Paths, make_backend: MakeBackend, make_models: MakeModelStore) -> None:
        self._config = config.daemon
        self._paths = paths
        documents, store = DocumentStore(), WarmStore(time.monotonic)
        self._worker: Worker[JobEvent, JobResult] = Worker(
            make_backend,
            IdleWork(documents, store, config.warm, spill_folder=paths.spill_dir),
            doing_after=doing_after,
            queue_limit=config.daemon.queue_limit,
            owner_limit=config.daemon.client_limit,
            n_places=config.daemon.running_limit,
            unload_after_s=config.daemon.unload_after_s,
        )
        self._lifecycle = Lifecycle()
        self._dispatcher = Dispatcher()
        self._connections: set[Connection] = set()
        self._file_watch = FileWatch(documents.watched, self._worker.wake)
        handlers = Handlers(
            config,
            paths,
            self._worker,
            make_models,
            self._lifecycle,
            self.request_stop,
            documents=documents,
            store=store,
            on_read=self._file_watch.add,
        )
        handlers.register(self._dispatcher)
        self.http = open_http(config, paths, handlers.completer)

    @property
    def method_names(self) -> frozenset[str]:
        """The methods that it answers."""
        return self._dispatcher.names

    def request_stop(self, drain: bool) -> None:
        """Let the daemon end, after finishing its edits or after cancelling them. Returns at once."""
        self._lifecycle.request_stop(drain=drain)
        if not drain:
            self._worker.cancel_all()

    async def serve(self, instance: Instance, on_listening: Callable[[], None] = lambda: None) -> None:
        """Serve until the end; the socket's file is gone then.

        Args:
            instance: the right to be this user's daemon.
            on_listening: called as soon as clients can connect.
        """
        _allow_files(self._config.connection_limit + _OTHER_FILES)
        # Before anybody is answered: files of an edit that was interrupted are all old or all new.
        await to_thread.run_sync(recover, Journal(self._paths.journal_dir))
        await to_thread.run_sync(KeptReplies(self._paths.replies_dir).prune)
        self._worker.start()
        try:
            _LOG.info("plgd %s listens (process %d)", __version__, os.getpid())
            on_listening()
            async with anyio.create_task_group() as clients:
                if self.http is not None:
                    clients.start_soon(self.http.run)
                async with anyio.create_task_group() as service:
                    service.start_soon(self._accept, instance.listener, clients)
                    service.start_soon(self._watch_idle)
                    service.start_soon(self._file_watch.run)
                    service.start_soon(self._watch_socket, instance)
                    await self._lifecycle.stop_requested.wait()
                    _LOG.info("stopping; %d requests to finish", self._lifecycle.n_active)
                    if not await self._lifecycle.wait_quiet(hurry_s=_HURRY_S):
                        _LOG.warning("%d requests did not end in time", self._lifecycle.n_active)
                        self._worker.abandon()
                        clients.cancel_scope.deadline = anyio.current_time() + _LAST_ANSWERS_S
                    self._file_watch.stop()
                    service.cancel_scope.cancel()
                instance.remove_socket()
                self._lifecycle.finished.set()
                for connection in self._connections:
                    connection.finish()
                if self.http is not None:
                    self.http.stop()
        finally:
            self._worker.close()
            with anyio.CancelScope(shield=True):
                if not await to_thread.run_sync(self._worker.join, _WORKER_TIMEOUT_S):
                    _LOG.warning("the model is still at work; it ends with the process")
        _LOG.info("plgd stopped")

    async def _accept(self, listener: socket.socket, clients: TaskGroup) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connected, _ = await loop.sock_accept(listener)
            except OSError as error:
                _LOG.error("a client could not connect: %s", error)
                await anyio.sleep(_ACCEPT_RETRY_S)
                continue
            clients.start_soon(self._serve_client, Stream(connected))

    async def _serve_client(self, stream: Stream) -> None:
        if peer_uid(stream.socket) != os.geteuid():
            _LOG.warning("a client of another user was refused")
            stream.close()
            return
        if len(self._connections) >= self._config.connection_limit:
            _LOG.warning("a client was refused: %d are connected", len(self._connections))
            await _refuse(stream, self._config.connection_limit)
            return
        connection = Connection(stream, self._dispatcher, self._lifecycle, frame_limit=self._config.frame_limit)
        self._connections.add(connection)
        try:
            await connection.serve()
        except Exception:  # noqa: BLE001  # one client's failure is no other's
            _LOG.exception("a connection failed")
        finally:
            self._connections.discard(connection)

    async def _watch_idle(self) -> None:
        limit_s = self._config.exit_after_s
        while limit_s:
            idle_s = self._lifecycle.idle_s
            if idle_s >= limit_s:
                _LOG.info("no request for %.0f s", idle_s)
                self.request_stop(drain=True)
                return
            await anyio.sleep(limit_s - idle_s)

    async def _watch_socket(self, instance: Instance) -> None:
        while instance.owns_socket:  # noqa: ASYNC110  # it is others who remove files, and they tell nobody
            await anyio.sleep(_SOCKET_CHECK_S)
        _LOG.warning("the socket is gone or another daemon's; no new client can find this one")
        self.request_stop(drain=True)


async def _refuse(stream: Stream, limit: int) -> None:
    with closing(stream):
        try:
            with anyio.move_on_after(1.0):
                await stream.send(encode_failure(None, TooManyConnections.of(limit)))
        except anyio.BrokenResourceError:
            return


def _allow_files(n_files: int) -> None:
    """Raise the limit of open files: macOS starts with 256, fewer than clients may connect."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < n_files:
        wanted = n_files if hard == resource.RLIM_INFINITY else min(n_files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


def open_http(config: Config, paths: Paths, completer: Completer) -> Endpoint | None:
    """Open the endpoint for clients that speak HTTP, if the user wants one; its libraries are an extra.

    Raises:
        ConfigError: the extra is missing, the port is taken, or the file with the token cannot be used.
    """
    if not config.http.enabled:
        return None
    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError.without_extra("http.enabled", missing, "http")
    endpoint: Endpoint = importlib.import_module("plgd.http.endpoint").HttpEndpoint(config.http, paths, completer)
    return endpoint


def make_mlx_backend(config: Config, paths: Paths) -> Backend:
    """Make the backend that runs models on mlx. The import waits until here: see `MakeBackend`."""
    backend: Backend = importlib.import_module("plgd.server.mlx_backend").MlxBackend(config, paths)
    return backend


def make_pulled_models(config: Config, paths: Paths) -> ModelStore:
    """Make the store of this machine's models. The import waits until here: see `MakeModelStore`."""
    models: ModelStore = importlib.import_module("plgd.server.pulled_models").PulledModels(config, paths)
    return models
