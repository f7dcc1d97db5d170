"""From a request's name and bytes to a handler's result and bytes."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec

from plgd.errors import InvalidParams, MethodNotFound, PlgdError, QueueFull, VersionMismatch
from plgd.protocol import envelope
from plgd.protocol.documents import ChangeParams
from plgd.protocol.methods import DOCUMENT_CHANGE, DOCUMENT_OPEN, Method, Notification

__all__ = ("Answer", "Call", "Client", "Dispatcher", "VersionRefused")

ParamsT = TypeVar("ParamsT", bound=msgspec.Struct)
ResultT = TypeVar("ResultT", bound=msgspec.Struct)

_LOG: Final = logging.getLogger(__name__)

# What becomes of the document when the text that its editor has cannot be read.
_CONSEQUENCES: Final = {
    DOCUMENT_CHANGE.name: " The change was not made; open the document again.",
    DOCUMENT_OPEN.name: " Nothing was opened; open the document again.",
}
_NO_VERSION: Final = -(2**53)  # it follows none


class _Named(msgspec.Struct, frozen=True):
    """Parameters of which only the document's name is read."""

    uri: str


_NAMED: Final = msgspec.json.Decoder(_Named)


@dataclass(eq=False, slots=True)
class Client:
    """One connection, as handlers know it.

    Attributes:
        farewells: called when it ends.
    """

    farewells: list[Callable[[], None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Call:
    """The request that a handler works on.

    Attributes:
        id: chosen by the client.
        send: takes a line for the client; never waits.
        client: who made it.
    """

    id: envelope.RequestId
    send: Callable[[bytes], None]
    client: Client = field(default_factory=Client)

    def notify(self, note: Notification[ParamsT], params: ParamsT) -> None:
        """Send a notification to the client that made the request."""
        self.send(envelope.encode_note(note, params))


class VersionRefused(Exception):
    """A `hello` from a client that speaks another protocol: the error with what its client must know to go on."""

    def __init__(self, error: VersionMismatch, data: envelope.ErrorData) -> None:
        super().__init__(error.message)
        self.error = error
        self.data = data


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, ready to be sent."""

    line: bytes
    succeeded: bool


@dataclass(frozen=True, slots=True)
class _QuickEntry:
    method: Method[Any, Any]
    handler: Callable[[Any], msgspec.Struct]


@dataclass(frozen=True, slots=True)
class _Entry:
    method: Method[Any, Any]
    handler: Callable[[Call, Any], Awaitable[msgspec.Struct]]


class Dispatcher:
    """The handlers by the names of their methods."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._quick: dict[str, _QuickEntry] = {}

    @property
    def names(self) -> frozenset[str]:
        """The methods that have a handler."""
        return frozenset(self._entries) | frozenset(self._quick)

    def add(self, method: Method[ParamsT, ResultT], handler: Callable[[Call, ParamsT], Awaitable[ResultT]]) -> None:
        """Let a handler answer a method."""
        self._entries[method.name] = _Entry(method, handler)

    def add_quick(self, method: Method[ParamsT, ResultT], handler: Callable[[ParamsT], ResultT]) -> None:
        """Let a handler answer a method that waits for nothing."""
        self._quick[method.name] = _QuickEntry(method, handler)

    def is_quick(self, name: str) -> bool:
        """Tell whether a method waits for nothing."""
        return name in self._quick

    def answer_quickly(self, request: envelope.Request) -> bytes:
        """Carry out a request of a quick method and return the line that answers it; see `answer`."""
        entry = self._quick[request.method]
        try:
            params = _read(entry.method, request)
            return envelope.encode_success(request.id, entry.handler(params))
        except Exception as error:  # noqa: BLE001  # one request's failure is no other's
            return _refusal(request, error)

    async def answer(self, request: envelope.Request, send: Callable[[bytes], None], client: Client) -> Answer:
        """Carry out a request; whatever fails becomes an error of the protocol.

        Args:
            request: what to do.
            send: takes lines for the client while the request is under way; never waits.
            client: who made it.
        """
        try:
            entry = self._find(request.method)
            try:
                params = _read(entry.method, request)
            except InvalidParams:
                await self._lose_step(request, Call(request.id, send, client))
                raise
            result = await entry.handler(Call(request.id, send, client), params)
            return Answer(envelope.encode_success(request.id, result), succeeded=True)
        except Exception as error:  # noqa: BLE001  # as above
            return Answer(_refusal(request, error), succeeded=False)

    async def refuse(self, note: envelope.Note, send: Callable[[bytes], None], client: Client) -> bytes:
        """Return the line that says why a notification cannot be read.

        Args:
            note: with half a surrogate pair.
            send: as in `answer`.
            client: who sent it.
        """
        await self._lose_step(note, Call("", send, client))
        return envelope.encode_failure(None, _half(note))

    async def _lose_step(self, message: envelope.Request | envelope.Note, call: Call) -> None:
        """Let a document be out of step when the text that its editor has now did not arrive."""
        entry = self._entries.get(DOCUMENT_CHANGE.name)
        if entry is None or message.method not in _CONSEQUENCES:
            return
        # It names no document, or one that is not open, or the change does not follow: as it should not.
        with suppress(msgspec.DecodeError, RecursionError, PlgdError):
            uri = _NAMED.decode(message.params).uri
            await entry.handler(call, ChangeParams(uri=uri, version=_NO_VERSION, changes=()))

    def _find(self, name: str) -> _Entry:
        entry = self._entries.get(name)
        if entry is None:
            nearest = difflib.get_close_matches(name[:100], self.names, n=1)
            raise MethodNotFound.named(name[:100], nearest[0] if nearest else None)
        return entry


def _read(method: Method[ParamsT, ResultT], request: envelope.Request) -> ParamsT:
    if request.half is not None:
        raise _half(request)
    try:
        return envelope.decode_params(method, request.params)
    except InvalidParams as error:
        raise InvalidParams(error.message + _CONSEQUENCES.get(method.name, "")) from error


def _half(message: envelope.Request | envelope.Note) -> InvalidParams:
    return InvalidParams(
        f"{message.method[:100]}: half a surrogate pair, which is no text ({message.half}); send both halves in one "
        f"text, or leave it out.{_CONSEQUENCES.get(message.method, '')}"
    )


def _refusal(request: envelope.Request, error: Exception) -> bytes:
    match error:
        case VersionRefused():
            return envelope.encode_failure(request.id, error.error, error.data)
        case QueueFull():
            data = envelope.ErrorData(retry_after_s=error.retry_after_s)
            return envelope.encode_failure(request.id, error, data)
        case PlgdError():
            return envelope.encode_failure(request.id, error)
        case _:
            _LOG.error("%s failed", request.method, exc_info=error)
            message = f"The daemon failed in {request.method} ({type(error).__name__}); `plgd logs` has the details."
            return envelope.encode_failure(request.id, PlgdError(message))
