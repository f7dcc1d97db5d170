"""The JSON-RPC 2.0 envelope: what surrounds every method's parameters and results.

Differences from the specification: a batch (an array of messages) is refused, parameters are always an object, and an
id is a string or an integer that every JSON implementation can hold exactly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal, TypeAlias, TypeVar, cast

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from plgd.errors import InvalidParams, InvalidRequest, ParseError, PlgdError
from plgd.protocol.methods import METHODS, NOTIFICATIONS, Method, Notification

__all__ = (
    "ErrorData",
    "ErrorObject",
    "Failure",
    "Incoming",
    "Note",
    "Request",
    "RequestId",
    "Success",
    "decode",
    "decode_note",
    "decode_params",
    "decode_result",
    "encode_failure",
    "encode_note",
    "encode_request",
    "encode_result",
    "encode_success",
)

ParamsT = TypeVar("ParamsT", bound=msgspec.Struct)
ResultT = TypeVar("ResultT", bound=msgspec.Struct)

RequestId: TypeAlias = int | str
# Integers that a double holds exactly: beyond them a client in JavaScript would see another id than it sent.
_WireId: TypeAlias = Annotated[int, Meta(ge=-(2**53), le=2**53)] | str


class ErrorData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an error says beyond its sentence.

    Attributes:
        daemon_version: with `VersionMismatch`, the daemon's version of plgd.
        stopping: with `VersionMismatch`, the daemon finishes its work and exits to make room for the client's version.
        retry_after_s: with `QueueFull` and `ClientBusy`, seconds until a place may be free, by what edits took.
    """

    daemon_version: str = ""
    stopping: bool = False
    retry_after_s: float = 0.0


class ErrorObject(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The `error` member of a response; `plgd.errors` lists the codes."""

    code: int
    message: str
    data: ErrorData | None = None


class Request(msgspec.Struct, frozen=True):
    """A message that wants an answer.

    Attributes:
        id: chosen by the client.
        method: its name.
        params: undecoded.
        half: where it holds half a surrogate pair, in words; a NUL stands there in `params`, which are not to be used.
    """

    id: RequestId
    method: str
    params: Raw
    half: str | None = None


class Note(msgspec.Struct, frozen=True):
    """A message without an answer, or a request whose id holds half a surrogate pair; see `Request`."""

    method: str
    params: Raw
    half: str | None = None


class Success(msgspec.Struct, frozen=True):
    """The answer to a request; `result` is undecoded."""

    id: RequestId
    result: Raw


class Failure(msgspec.Struct, frozen=True):
    """The refusal of a request; without an id when the daemon could not read one."""

    id: RequestId | None
    error: ErrorObject


Incoming: TypeAlias = Request | Note | Success | Failure


class _Wire(msgspec.Struct, frozen=True):
    """Any message as it stands on the line. An empty `Raw` is an absent member."""

    jsonrpc: Literal["2.0"]
    method: str | UnsetType = UNSET
    id: _WireId | UnsetType | None = UNSET
    params: Raw = Raw()
    result: Raw = Raw()
    error: ErrorObject | UnsetType = UNSET


class _RequestOut(msgspec.Struct, frozen=True):
    jsonrpc: str
    id: RequestId
    method: str
    params: msgspec.Struct


class _NoteOut(msgspec.Struct, frozen=True):
    jsonrpc: str
    method: str
    params: msgspec.Struct


class _SuccessOut(msgspec.Struct, frozen=True):
    jsonrpc: str
    id: RequestId
    result: msgspec.Struct


class _FailureOut(msgspec.Struct, frozen=True):
    jsonrpc: str
    id: RequestId | None
    error: ErrorObject


_VERSION: Final = "2.0"
_WIRE: Final = msgspec.json.Decoder(_Wire)
_ANYTHING: Final = msgspec.json.Decoder()
_ENCODER: Final = msgspec.json.Encoder()
# Ten thousand changes are a third of it.
_VALUES_SEARCHED: Final = 200_000
# Of a field's name in an error.
_NAME_CHARACTERS: Final = 100
_HALF: Final = re.compile("[\ud800-\udfff]")
_HALF_ESCAPED: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_PARAMS: Final = {name: msgspec.json.Decoder(method.params) for name, method in METHODS.items()}
_RESULTS: Final = {name: msgspec.json.Decoder(method.result) for name, method in METHODS.items()}
_NOTES: Final = {name: msgspec.json.Decoder(note.params) for name, note in NOTIFICATIONS.items()}


def decode(line: bytes) -> Incoming:
    """Read one line.

    Half a surrogate pair is valid in JSON, but no text: a request or notification with one says where (`half`).

    Raises:
        ParseError: the line is not JSON.
        InvalidRequest: it is JSON, but not one JSON-RPC 2.0 message.
    """
    try:
        wire = _WIRE.decode(line)
    except RecursionError as error:
        raise ParseError("The message is nested too deeply.") from error
    except msgspec.ValidationError as error:
        _check_json(line)
        raise InvalidRequest(f"Not a JSON-RPC 2.0 message: {_in_words(error)}.") from error
    except msgspec.DecodeError as error:
        if (message := _decode_with_half(line)) is not None:
            return message
        raise ParseError(f"Not JSON: {error}.") from error
    return _classify(wire)


def _decode_with_half(line: bytes) -> Request | Note | None:
    # A client that is told nothing under its id waits for ever, and its next change would be of another text.
    if not _HALF_ESCAPED.search(line):
        return None
    try:
        value = json.loads(line.decode())
        mended, n_halves = _HALF.subn(r"\\u0000", json.dumps(value, ensure_ascii=False, check_circular=False))
        wire = _WIRE.decode(mended.encode())
    except RecursionError as error:
        raise ParseError("The message is nested too deeply.") from error
    except msgspec.ValidationError as error:
        _check_json(mended.encode())
        raise InvalidRequest(f"Not a JSON-RPC 2.0 message: {_in_words(error)}.") from error
    except (ValueError, msgspec.DecodeError):
        return None
    message = _classify(wire)
    if n_halves == 0 or not isinstance(message, Request | Note):
        return None
    half = _find_half(value)
    if isinstance(message, Note) or _HALF.search(str(value["id"])):
        return Note(message.method, message.params, half)
    return Request(message.id, message.method, message.params, half)


def _find_half(message: object) -> str:
    # Without recursion, not for long, and naming only the way to what is found: messages are deep, long and hostile.
    n_values = 0
    keys: list[object] = []
    levels: list[Iterator[tuple[object, object]]] = [_members(message)]
    while levels:
        for key, value in levels[-1]:
            n_values += 1
            if n_values > _VALUES_SEARCHED:
                return _name([])
            if isinstance(key, str) and _HALF.search(key):
                return f"a key of {_name(keys)}"
            if isinstance(value, str) and _HALF.search(value):
                return _name([*keys, key])
            if isinstance(value, dict | list):
                keys.append(key)
                levels.append(_members(value))
                break
        else:
            levels.pop()
            del keys[-1:]
    return _name([])


def _members(value: object) -> Iterator[tuple[object, object]]:
    match value:
        case dict():
            return iter(value.items())
        case list():
            return enumerate(value)
        case _:
            return iter(())


def _name(keys: list[object]) -> str:
    if not keys:
        return "the message"
    inner = keys[1:] if keys[0] == "params" and len(keys) > 1 else keys
    path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in inner).removeprefix(".")
    return f"field `{path if len(path) <= _NAME_CHARACTERS else path[:_NAME_CHARACTERS] + '...'}`"


def _check_json(line: bytes) -> None:
    # The typed decoder stops at the first wrong type; whether the rest is JSON decides between two errors.
    try:
        value = _ANYTHING.decode(line)
    except RecursionError as error:
        raise ParseError("The message is nested too deeply.") from error
    except msgspec.DecodeError as error:
        raise ParseError(f"Not JSON: {error}.") from error
    if isinstance(value, list):
        raise InvalidRequest("Batches are not supported; send one message per line.")


def _classify(wire: _Wire) -> Incoming:
    if isinstance(wire.method, str):
        params = wire.params or Raw(b"{}")
        if isinstance(wire.id, UnsetType):
            return Note(wire.method, params)
        if wire.id is None:
            raise InvalidRequest("A request's id is a string or an integer, not null; leave it out for a notification.")
        return Request(wire.id, wire.method, params)
    if isinstance(wire.error, ErrorObject):
        return Failure(None if isinstance(wire.id, UnsetType) else wire.id, wire.error)
    if wire.result and isinstance(wire.id, int | str):
        return Success(wire.id, wire.result)
    raise InvalidRequest("Not a JSON-RPC 2.0 message: it has no method and is no response.")


def decode_params(method: Method[ParamsT, ResultT], raw: Raw) -> ParamsT:
    """Read the parameters of a request.

    Raises:
        InvalidParams: they are not of the method's type; the message names the field.
    """
    return cast(ParamsT, _decode_object(_PARAMS[method.name], method.name, raw))


def decode_note(note: Notification[ParamsT], raw: Raw) -> ParamsT:
    """Read the parameters of a notification; raises like `decode_params`."""
    return cast(ParamsT, _decode_object(_NOTES[note.name], note.name, raw))


def decode_result(method: Method[ParamsT, ResultT], raw: Raw) -> ResultT:
    """Read the answer to a request; raises like `decode_params`."""
    return cast(ResultT, _decode_object(_RESULTS[method.name], method.name, raw))


def _decode_object(decoder: msgspec.json.Decoder[msgspec.Struct], name: str, raw: Raw) -> msgspec.Struct:
    try:
        return decoder.decode(raw)
    except RecursionError as error:
        raise InvalidParams(f"{name}: nested too deeply.") from error
    except msgspec.DecodeError as error:
        raise InvalidParams(f"{name}: {_in_words(error)}.") from error


def _in_words(error: Exception) -> str:
    def name_field(at: re.Match[str]) -> str:
        return f" ({'a key of ' if at[1] else ''}field `{at[2]}`)" if at[2] else ""

    return re.sub(r" - at (`key` in )?`\$\.?(.*)`$", name_field, str(error))


def encode_request(request_id: RequestId, method: Method[ParamsT, ResultT], params: ParamsT) -> bytes:
    """Write a request as one line.

    Raises:
        InvalidParams: a text in it is half a surrogate pair; escaped, a path would be the path of another file.
    """
    try:
        return _ENCODER.encode(_RequestOut(_VERSION, request_id, method.name, params)) + b"\n"
    except UnicodeEncodeError as error:
        raise InvalidParams(f"{method.name}: a text in it is not valid Unicode ({error.reason}).") from error


def encode_note(note: Notification[ParamsT], params: ParamsT) -> bytes:
    """Write a notification as one line."""
    return _line(_NoteOut(_VERSION, note.name, params))


def encode_result(result: msgspec.Struct) -> bytes:
    """Write a result by itself, to be kept."""
    return _encode(result)


def encode_success(request_id: RequestId, result: msgspec.Struct) -> bytes:
    """Write the answer to a request as one line."""
    return _line(_SuccessOut(_VERSION, request_id, result))


def encode_failure(request_id: RequestId | None, error: PlgdError, data: ErrorData | None = None) -> bytes:
    """Write the refusal of a request as one line."""
    return _line(_FailureOut(_VERSION, request_id, ErrorObject(code=error.code, message=error.message, data=data)))


def _line(message: msgspec.Struct) -> bytes:
    return _encode(message) + b"\n"


def _encode(message: msgspec.Struct) -> bytes:
    try:
        return _ENCODER.encode(message)
    except UnicodeEncodeError:
        # A message may quote a file's name that is no UTF-8; Python holds it as text that JSON cannot carry.
        return _ENCODER.encode(_escaped(msgspec.to_builtins(message)))


def _escaped(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode("utf-8")
        case dict():
            return {key: _escaped(member) for key, member in value.items()}
        case list() | tuple():
            return [_escaped(member) for member in value]
        case _:
            return value
