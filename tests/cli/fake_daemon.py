"""A daemon without a model: the real protocol on a real socket, and answers that the test chose."""

from __future__ import annotations

import os
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Final, TypeVar

import msgspec

from plgd.errors import Cancelled, MethodNotFound, PlgdError
from plgd.paths import Paths, private_folder
from plgd.protocol import envelope
from plgd.protocol.daemon import PROTOCOL_VERSION, CancelParams, HelloResult, PingResult, StatusResult
from plgd.protocol.methods import CANCEL, HELLO, METHODS, NOTIFICATIONS, PING, STATUS, Method
from plgd.version import __version__

__all__ = ("Answer", "FakeDaemon", "status_result")

Answer = msgspec.Struct | PlgdError | Callable[[], msgspec.Struct | PlgdError] | None

ParamsT = TypeVar("ParamsT", bound=msgspec.Struct)
ResultT = TypeVar("ResultT", bound=msgspec.Struct)

# A bound for what hangs, far above what a busy machine takes.
WAIT_S: Final = 120.0


class FakeDaemon(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Answers `hello`, `ping` and `status` by itself, everything else as told.

    Attributes:
        asked: every request that was received except `hello`, in order, as its method's name and its parameters.
        cancelled: gets the id of each request that a client cancelled.
    """

    daemon_threads = True

    def __init__(self, paths: Paths) -> None:
        private_folder(paths.runtime_dir)
        super().__init__(os.fspath(paths.socket), _Connection)
        self.asked: SimpleQueue[tuple[str, msgspec.Struct]] = SimpleQueue()
        self.cancelled: SimpleQueue[int | str] = SimpleQueue()
        self._answers: dict[str, Answer] = {
            HELLO.name: HelloResult(protocol=PROTOCOL_VERSION, version=__version__, pid=os.getpid()),
            PING.name: PingResult(),
            STATUS.name: status_result(),
        }
        self._before: dict[str, tuple[msgspec.Struct, ...]] = {}

    @classmethod
    @contextmanager
    def running(cls, paths: Paths) -> Iterator[FakeDaemon]:
        """Serve until the block ends."""
        with cls(paths) as daemon:
            thread = threading.Thread(target=daemon.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            try:
                yield daemon
            finally:
                daemon.shutdown()
                thread.join()

    def answers(self, method: Method[ParamsT, ResultT], answer: Answer) -> None:
        """Answer a method from now on so: a result, an error, what a function returns, or `None`: not at all."""
        self._answers[method.name] = answer

    def notifies(self, method: Method[ParamsT, ResultT], *notes: msgspec.Struct) -> None:
        """Send these notifications before each answer; their `id` becomes the request's."""
        self._before[method.name] = notes

    def next_request(self) -> tuple[str, msgspec.Struct]:
        """Wait for a request."""
        return self.asked.get(timeout=WAIT_S)

    def next_params(self, method: Method[ParamsT, ResultT]) -> ParamsT:
        """Wait for a request, which must be of this method, and return its parameters."""
        name, params = self.next_request()
        assert method.name == name
        assert isinstance(params, method.params)
        return params


class _Connection(socketserver.StreamRequestHandler):
    server: FakeDaemon

    def handle(self) -> None:
        for line in self.rfile:
            match envelope.decode(line):
                case envelope.Request(id=request_id, method=name, params=raw):
                    self._request(request_id, name, raw)
                case envelope.Note(method=CANCEL.name, params=raw):
                    cancelled = envelope.decode_note(CANCEL, raw)
                    assert isinstance(cancelled, CancelParams)
                    self._send(envelope.encode_failure(cancelled.id, Cancelled()))
                    self.server.cancelled.put(cancelled.id)

    def _request(self, request_id: int | str, name: str, raw: msgspec.Raw) -> None:
        method = METHODS[name]
        params = envelope.decode_params(method, raw)
        for note in self.server._before.get(name, ()):
            owned = msgspec.structs.replace(note, id=request_id)
            kind = "edit/progress" if type(note).__name__ == "EditProgress" else "model/progress"
            self._send(envelope.encode_note(NOTIFICATIONS[kind], owned))
        if name != HELLO.name:
            self.server.asked.put((name, params))
        answer = self.server._answers.get(name, MethodNotFound.named(name))
        answer = answer() if callable(answer) else answer
        if isinstance(answer, PlgdError):
            self._send(envelope.encode_failure(request_id, answer))
        elif answer is not None:
            self._send(envelope.encode_success(request_id, answer))

    def _send(self, line: bytes) -> None:
        try:
            self.wfile.write(line)
        except (BrokenPipeError, ConnectionResetError):
            return  # the client is gone, as after Ctrl-C


def status_result(**changes: object) -> StatusResult:
    """A status of a daemon that is ready, with some fields changed."""
    ready = StatusResult(
        state="ready",
        message="",
        version=__version__,
        pid=4711,
        model="builtin",
        loading_percent=100.0,
        jobs=(),
        resident_bytes=812_000_000,
        device_bytes=540_000_000,
        device="cpu",
        socket="/run/plgd.sock",
        uptime_s=3725.0,
        n_edits=1203,
    )
    return msgspec.structs.replace(ready, **changes)
