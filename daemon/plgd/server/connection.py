"""One client's connection: lines in, requests to the dispatcher, answers out."""

from __future__ import annotations

import logging
from contextlib import closing, nullcontext
from typing import Final

import anyio
from anyio.abc import TaskGroup
from msgspec import Raw

from plgd.errors import Cancelled, FrameTooLarge, HelloFirst, InvalidParams, InvalidRequest, ProtocolError, QueueFull
from plgd.protocol import envelope
from plgd.protocol.framing import Splitter
from plgd.protocol.methods import CANCEL, HELLO, STOP
from plgd.server.dispatch import Client, Dispatcher
from plgd.server.lifecycle import Lifecycle
from plgd.server.outbox import Outbox
from plgd.stream import Stream

__all__ = ("Connection",)

_READ_BYTES: Final = 256 * 1024
# Requests of one connection under way at once; an editor has a handful.
_REQUEST_LIMIT: Final = 256
# Lines of one connection that are taken until the others get their turn.
_LINES_AT_ONCE: Final = 32
# What waits for a slow reader: at least this much, so that a small frame limit does not cut off a burst of deltas.
_OUTBOX_BYTES: Final = 1024 * 1024
# How long the last answers may take to leave when the connection ends.
_FLUSH_TIMEOUT_S: Final = 2.0

_LOG: Final = logging.getLogger(__name__)


class Connection:
    """Serves one client until it leaves, stops reading, or sends what cannot be read any further.

    Args:
        stream: the connected socket.
        dispatcher: answers the requests.
        lifecycle: counts them.
        frame_limit: bytes of one message.
    """

    def __init__(self, stream: Stream, dispatcher: Dispatcher, lifecycle: Lifecycle, *, frame_limit: int) -> None:
        self._stream = stream
        self._dispatcher = dispatcher
        self._lifecycle = lifecycle
        self._splitter = Splitter(frame_limit)
        self._outbox = Outbox(max(frame_limit, _OUTBOX_BYTES))
        self._requests: dict[envelope.RequestId, anyio.CancelScope] = {}
        self._has_new = False  # a request was taken that may not have begun
        self._client = Client()
        self._greeted = False
        self._reading = anyio.CancelScope()
        self._whole = anyio.CancelScope()

    async def serve(self) -> None:
        """Serve the client until the connection ends; the requests that are still under way then are cancelled."""
        try:
            await self._serve()
        finally:
            for farewell in self._client.farewells:
                farewell()

    def finish(self) -> None:
        """Read no more; the connection ends when the requests that are under way are answered."""
        self._reading.cancel()

    async def _serve(self) -> None:
        with closing(self._stream), self._whole:
            async with anyio.create_task_group() as sending:
                sending.start_soon(self._send_forever)
                async with anyio.create_task_group() as requests:
                    with self._reading:
                        await self._read_forever(requests)
                    if not self._reading.cancelled_caught:
                        requests.cancel_scope.cancel()
                self._outbox.close()
                self._whole.deadline = anyio.current_time() + _FLUSH_TIMEOUT_S

    async def _send_forever(self) -> None:
        try:
            await self._outbox.send_to(self._stream)
        except anyio.BrokenResourceError:
            self._whole.cancel()

    def _send(self, line: bytes) -> None:
        was_given_up = self._outbox.overflowed
        self._outbox.put(line)
        if self._outbox.overflowed and not was_given_up:
            _LOG.warning("a client that does not read was given up")
            self._whole.cancel()

    async def _read_forever(self, requests: TaskGroup) -> None:
        n_taken = 0
        try:
            while True:
                while (line := self._splitter.next_line()) is not None:
                    await self._take(line, requests)
                    n_taken += 1
                    if n_taken % _LINES_AT_ONCE == 0:
                        await anyio.lowlevel.checkpoint()
                self._splitter.feed(await self._stream.receive(_READ_BYTES))
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return
        except FrameTooLarge as error:
            self._send(envelope.encode_failure(None, error))

    async def _take(self, line: bytes, requests: TaskGroup) -> None:
        try:
            message = envelope.decode(line)
        except ProtocolError as error:
            self._send(envelope.encode_failure(None, error))
            return
        match message:
            case envelope.Request():
                await self._take_request(message, requests)
            case envelope.Note(half=str()):
                await self._begin_earlier()
                self._send(await self._dispatcher.refuse(message, self._send, self._client))
            case envelope.Note(method=CANCEL.name, params=raw):
                self._cancel(raw)
            case _:
                return  # the daemon asks nothing, so no answer is awaited; unknown notifications are ignored

    async def _take_request(self, request: envelope.Request, requests: TaskGroup) -> None:
        if request.method == HELLO.name:
            answer = await self._dispatcher.answer(request, self._send, self._client)
            self._greeted = self._greeted or answer.succeeded
            self._send(answer.line)
        elif not self._greeted:
            self._send(envelope.encode_failure(request.id, HelloFirst()))
        elif request.id in self._requests:
            error = InvalidRequest(f"The id {request.id!r} belongs to a request that is still under way.")
            self._send(envelope.encode_failure(request.id, error))
        elif self._dispatcher.is_quick(request.method):
            # A task for each would cost several times what the answer does.
            await self._answer_quickly(request)
        elif len(self._requests) >= _REQUEST_LIMIT:
            self._send(envelope.encode_failure(request.id, QueueFull.of(_REQUEST_LIMIT)))
        else:
            scope = self._requests[request.id] = anyio.CancelScope()
            requests.start_soon(self._answer, request, scope)
            self._has_new = True
            if len(self._requests) == _REQUEST_LIMIT:
                # The quick ones end as soon as they get a turn.
                await anyio.lowlevel.checkpoint()

    async def _begin_earlier(self) -> None:
        # What was asked before has begun first: a status after a stop says that the daemon stops.
        if self._has_new:
            await anyio.lowlevel.checkpoint()
            self._has_new = False

    async def _answer_quickly(self, request: envelope.Request) -> None:
        await self._begin_earlier()
        self._lifecycle.note_request()
        self._send(self._dispatcher.answer_quickly(request))

    async def _answer(self, request: envelope.Request, scope: anyio.CancelScope) -> None:
        # A `stop` waits for the requests that are counted, so it cannot be one of them.
        with nullcontext() if request.method == STOP.name else self._lifecycle.request():
            line = envelope.encode_failure(request.id, Cancelled())
            with scope:
                line = (await self._dispatcher.answer(request, self._send, self._client)).line
            del self._requests[request.id]
            self._send(line)

    def _cancel(self, raw: Raw) -> None:
        try:
            scope = self._requests.get(envelope.decode_note(CANCEL, raw).id)
        except InvalidParams as error:
            _LOG.info("a cancel was not understood: %s", error)
            return
        if scope is not None:
            scope.cancel()
