"""The client's end of the socket, for the command line, the language server and everybody else in Python."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from itertools import count
from typing import Final, TypeVar

import anyio
import msgspec

from plgd.errors import ConnectionLost, DaemonUnreachable, from_wire
from plgd.launch import connect_running, launch
from plgd.paths import Paths
from plgd.protocol import envelope
from plgd.protocol.daemon import PROTOCOL_VERSION, CancelParams, HelloParams
from plgd.protocol.framing import Splitter
from plgd.protocol.methods import CANCEL, HELLO, NOTIFICATIONS, Method
from plgd.stream import Stream
from plgd.version import __version__

__all__ = ("Client", "OnNotification", "connect")

ParamsT = TypeVar("ParamsT", bound=msgspec.Struct)
ResultT = TypeVar("ResultT", bound=msgspec.Struct)

OnNotification = Callable[[msgspec.Struct], None]

# The daemon's own results are its only frames; no user can make one larger by accident.
_FRAME_LIMIT: Final = 1024 * 1024 * 1024
_READ_BYTES: Final = 256 * 1024
# The daemon always reads; one that is stopped or swapped out gets so long.
_SEND_TIMEOUT_S: Final = 10.0
# The daemon answers `hello` whatever else it does; one that is stopped or hangs never does.
_HELLO_TIMEOUT_S: Final = 10.0
# An old daemon finishes the edits that run before it makes room.
_REPLACE_TIMEOUT_S: Final = 600.0
# Daemons that may go away during the introduction before it is given up, and the time between two.
_N_TRIES: Final = 5
_RETRY_S: Final = 0.05


@asynccontextmanager
async def connect(paths: Paths, *, client: str, start: bool = True) -> AsyncIterator[Client]:
    """Connect to the daemon and introduce the client.

    Args:
        paths: where the daemon's socket is.
        client: the client's name for the daemon's log, such as `plgd-cli`.
        start: start the daemon when none runs, and replace one that is older than this client.

    Raises:
        ConfigError: the daemon could not start with the user's configuration.
        DaemonUnreachable: no daemon answers and `start` is false, or one listens and does not answer.
        StartFailed: the daemon did not come up.
        SocketPathTooLong: the operating system could not bind the socket.
        VersionMismatch: the daemon speaks another protocol; it is newer, or `start` is false.
        ConnectionLost: daemons went away during the introduction, one after the other.
    """
    opened = await _open(paths, client, start=start)
    raised: Exception | None = None
    with closing(opened):
        async with anyio.create_task_group() as group:
            group.start_soon(opened.read_forever)
            try:
                yield opened
            except Exception as error:  # noqa: BLE001  # a task group would wrap it; it is raised again below
                raised = error
            finally:
                group.cancel_scope.cancel()
    if raised is not None:
        raise raised


async def _open(paths: Paths, client: str, *, start: bool) -> Client:
    n_lost = 0
    has_replaced = False
    while True:
        opened = Client(await launch(paths) if start else connect_running(paths))
        try:
            refusal = await _introduce(opened, client, paths)
        except ConnectionLost as error:
            # A daemon in its last moments still lets clients connect; the next try finds it gone.
            if not start:
                raise DaemonUnreachable.at(str(paths.socket)) from error
            n_lost += 1
            if n_lost == _N_TRIES:
                raise
            await anyio.sleep(_RETRY_S)
            continue
        if refusal is None:
            return opened
        with closing(opened):
            makes_room = refusal.error.data is not None and refusal.error.data.stopping
            # Twice would mean that this client cannot start its own version.
            if not start or not makes_room or has_replaced:
                raise from_wire(refusal.error.code, refusal.error.message)
            with anyio.move_on_after(_REPLACE_TIMEOUT_S) as waiting:
                await opened.read_forever()
            if waiting.cancelled_caught:
                raise from_wire(refusal.error.code, refusal.error.message)
            has_replaced = True


async def _introduce(opened: Client, client: str, paths: Paths) -> envelope.Failure | None:
    try:
        with anyio.fail_after(_HELLO_TIMEOUT_S):
            return await opened.hello(client)
    except TimeoutError as error:
        opened.close()
        raise DaemonUnreachable.silent(str(paths.socket), paths.read_pid()) from error
    except BaseException:
        opened.close()
        raise


@dataclass(slots=True)
class _Call:
    """A request that waits for its answer."""

    on_notification: OnNotification | None
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: envelope.Success | envelope.Failure | None = None
    raised: Exception | None = None


class Client:
    """A connection to the daemon; made by `connect`. Any number of calls may be under way at once.

    `plgd.lasting_client` has one that outlives the daemon, `plgd.streamed` calls whose notifications are iterated over.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._splitter = Splitter(_FRAME_LIMIT)
        self._ids = count(1)
        self._calls: dict[envelope.RequestId, _Call] = {}
        self._sending = anyio.Lock()
        self._lost = False
        self._over = anyio.Event()

    def close(self) -> None:
        """Close the connection; the daemon cancels what it still does for it."""
        self._stream.close()

    async def call(
        self, method: Method[ParamsT, ResultT], params: ParamsT, on_notification: OnNotification | None = None
    ) -> ResultT:
        """Send a request and wait for its answer. When the caller is cancelled, so is the request.

        Args:
            method: an entry of `plgd.protocol.methods`.
            params: its parameters.
            on_notification: called with the decoded notifications of this request, in order, before the answer.

        Raises:
            PlgdError: the daemon refused or failed; the class is the one that the daemon raised.
            ConnectionLost: the daemon went away.
        """
        if self._lost:
            raise ConnectionLost
        request_id = next(self._ids)
        call = self._calls[request_id] = _Call(on_notification)
        try:
            await self._send(envelope.encode_request(request_id, method, params))
            await call.done.wait()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._cancel(request_id)
            raise
        finally:
            del self._calls[request_id]
        if call.raised is not None:
            raise call.raised
        match call.answer:
            case envelope.Success(result=result):
                return envelope.decode_result(method, result)
            case envelope.Failure(error=error):
                raise from_wire(error.code, error.message, error.data.retry_after_s if error.data else 0.0)
            case None:
                raise ConnectionLost

    async def hello(self, client: str) -> envelope.Failure | None:
        """Introduce the client, before anything else; return the daemon's refusal if it does not want to talk.

        Raises:
            ConnectionLost: the daemon went away.
        """
        params = HelloParams(protocol=PROTOCOL_VERSION, version=__version__, client=client)
        await self._send(envelope.encode_request(next(self._ids), HELLO, params))
        answer = await self._receive()
        if isinstance(answer, envelope.Success):
            envelope.decode_result(HELLO, answer.result)
            return None
        if isinstance(answer, envelope.Failure):
            return answer
        raise ConnectionLost

    @property
    def is_lost(self) -> bool:
        """Whether the connection has ended; every call raises `ConnectionLost` then."""
        return self._lost

    async def wait_closed(self) -> None:
        """Wait until the daemon has ended the connection."""
        await self._over.wait()

    async def read_forever(self) -> None:
        """Hand every message to the call that it belongs to, until the connection ends."""
        try:
            while True:
                self._deliver(await self._receive())
        except ConnectionLost:
            self._lose()

    def _lose(self) -> None:
        self._lost = True
        self._over.set()
        for call in self._calls.values():
            call.done.set()

    def _deliver(self, message: envelope.Incoming) -> None:
        match message:
            case envelope.Success(id=request_id) | envelope.Failure(id=int() | str() as request_id):
                call = self._calls.get(request_id)
                if call is not None:
                    call.answer = message
                    call.done.set()
            case envelope.Failure():
                # About the connection as a whole, such as a message that was too large: nobody gets an answer now.
                for call in self._calls.values():
                    call.answer = message
                    call.done.set()
            case envelope.Note(method=name, params=raw) if name in NOTIFICATIONS:
                note = envelope.decode_note(NOTIFICATIONS[name], raw)
                call = self._calls.get(getattr(note, "id", ""))
                if call is not None and call.on_notification is not None and call.raised is None:
                    self._notify(call, call.on_notification, note)
            case _:
                return  # a notification of a newer daemon

    def _notify(self, call: _Call, on_notification: OnNotification, note: msgspec.Struct) -> None:
        try:
            on_notification(note)
        except Exception as error:  # noqa: BLE001  # it belongs to the caller, not to the connection
            call.raised = error
            call.done.set()

    async def _receive(self) -> envelope.Incoming:
        try:
            while (line := self._splitter.next_line()) is None:
                self._splitter.feed(await self._stream.receive(_READ_BYTES))
            return envelope.decode(line)
        except (anyio.EndOfStream, anyio.BrokenResourceError) as error:
            raise ConnectionLost from error

    async def _cancel(self, request_id: int) -> None:
        try:
            await self._send(envelope.encode_note(CANCEL, CancelParams(id=request_id)))
        except ConnectionLost:
            return  # then the request is gone as well

    async def _send(self, line: bytes) -> None:
        # Half a line would spoil every later one, so a cancelled caller waits for the rest of it.
        try:
            async with self._sending:
                with anyio.fail_after(_SEND_TIMEOUT_S, shield=True):
                    await self._stream.send(line)
        except (anyio.BrokenResourceError, TimeoutError) as error:
            self._lose()
            raise ConnectionLost from error
