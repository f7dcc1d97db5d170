"""Every error of plgd, with the tree drawn first.

PlgdError
├── ConfigError                  the configuration file cannot be used
├── InputError                   the request cannot be carried out as it stands
│   ├── FileMissing, NotAFile, FileUnreadable, NotText
│   ├── EmptyInstruction, LinesOutOfRange, TextTooLong
│   ├── ReadOnlyTarget, UnsavedChanges
│   ├── DocumentNotOpen, OutOfSync, DocumentLimit
│   └── SessionUnknown, KeyReused
├── Conflict                     the text changed while the model worked
├── WriteFailed                  the new text could not be put on disk; the old one is whole
├── ModelError                   a model cannot be found, fetched, checked or run
│   ├── UnknownModel, ModelNotPulled, UnsupportedModel, DamagedModel
│   └── PullFailed, HashMismatch, NoSpace
├── EngineError                  a round failed; the session is dropped, the daemon lives
│   └── RollbackFailed
├── DaemonError                  the daemon cannot be reached or started
│   ├── DaemonUnreachable, StartFailed, AlreadyRunning, SocketPathTooLong
│   └── VersionMismatch, ConnectionLost
├── ProtocolError                a message on the socket is not what the protocol says
│   ├── ParseError, InvalidRequest, MethodNotFound, InvalidParams
│   └── FrameTooLarge, HelloFirst
├── BenchError                   a measurement cannot be made here
├── QueueFull, ShuttingDown, TooManyConnections  the daemon is alive but takes no more work
└── Cancelled                    the request was cancelled

A class carries the JSON-RPC error code it travels under and the exit code that the CLI gives for it;
`BY_CODE` maps a code back to its class. Messages are assembled here, from real arguments.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

__all__ = (
    "BY_CODE",
    "AlreadyRunning",
    "BenchError",
    "Cancelled",
    "ConfigError",
    "Conflict",
    "ConnectionLost",
    "DaemonError",
    "DaemonUnreachable",
    "DamagedModel",
    "DocumentLimit",
    "DocumentNotOpen",
    "EmptyInstruction",
    "EngineError",
    "FileMissing",
    "FileUnreadable",
    "FrameTooLarge",
    "HashMismatch",
    "HelloFirst",
    "InputError",
    "InvalidParams",
    "InvalidRequest",
    "KeyReused",
    "LinesOutOfRange",
    "MethodNotFound",
    "ModelError",
    "ModelNotPulled",
    "NoSpace",
    "NotAFile",
    "NotText",
    "OutOfSync",
    "ParseError",
    "PlgdError",
    "ProtocolError",
    "PullFailed",
    "QueueFull",
    "ReadOnlyTarget",
    "RollbackFailed",
    "SessionUnknown",
    "ShuttingDown",
    "SocketPathTooLong",
    "StartFailed",
    "TextTooLong",
    "TooManyConnections",
    "UnknownModel",
    "UnsavedChanges",
    "UnsupportedModel",
    "VersionMismatch",
    "WriteFailed",
    "from_wire",
)


class PlgdError(Exception):
    """Anything plgd refuses or fails to do, said in one sentence for a person."""

    code: ClassVar[int] = -32000
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


# Configuration ----------------------------------------------------------------------------------


class ConfigError(PlgdError):
    """The configuration file cannot be used; the message names the key and what is allowed."""

    code = -32001
    exit_code = 2

    @classmethod
    def without_extra(cls, what: str, missing: Iterable[str], extra: str) -> ConfigError:
        return cls(f"{what} needs {' and '.join(missing)}. Install the extra: pip install 'plgd[{extra}]'")

    @classmethod
    def with_taken_port(cls, port: int, reason: str) -> ConfigError:
        return cls(f"`http.port`: 127.0.0.1:{port} cannot be had ({reason}). Choose another, or 0 for any.")

    @classmethod
    def with_bad_token(cls, path: str, reason: str) -> ConfigError:
        return cls(f"{path} cannot be used as a token: {reason}. Remove it, and a new one is made.")


# Input ------------------------------------------------------------------------------------------


class InputError(PlgdError):
    """The request cannot be carried out as it stands; nothing was changed."""

    code = -32010


class FileMissing(InputError):
    """The path names nothing."""

    code = -32011

    @classmethod
    def at(cls, path: str, link_target: str = "") -> FileMissing:
        if link_target:
            return cls(f"{path} is a symbolic link to {link_target}, which does not exist.")
        return cls(f"{path}: no such file. Check the spelling, or create the file first.")


class NotAFile(InputError):
    """The path names a folder, a device or a socket."""

    code = -32012

    @classmethod
    def at(cls, path: str, kind: str) -> NotAFile:
        return cls(f"{path} is a {kind}, not a file. Name one file to edit.")


class FileUnreadable(InputError):
    """The file exists but the daemon may not read it."""

    code = -32013

    @classmethod
    def at(cls, path: str, reason: str) -> FileUnreadable:
        return cls(f"{path} cannot be read: {reason}.")


class NotText(InputError):
    """The file holds NUL bytes or is not UTF-8."""

    code = -32014

    @classmethod
    def binary(cls, name: str, offset: int) -> NotText:
        return cls(f"{name} is a binary file (NUL at byte {offset}); plgd edits text.")

    @classmethod
    def not_utf8(cls, name: str, offset: int) -> NotText:
        return cls(f"{name} is not UTF-8 (byte {offset}). Convert it to UTF-8 first.")


class EmptyInstruction(InputError):
    """The instruction is missing or blank."""

    code = -32016
    exit_code = 2

    def __init__(self, message: str = "The instruction is empty. Say what to change.") -> None:
        super().__init__(message)


class LinesOutOfRange(InputError):
    """The line range is reversed, or not within the text."""

    code = -32017
    exit_code = 2

    @classmethod
    def of(cls, name: str, first: int, last: int, n_lines: int) -> LinesOutOfRange:
        has = "1 line" if n_lines == 1 else f"{n_lines} lines"
        if first < 1:
            return cls(f"Lines are counted from 1, so there is no line {first}; {name} has {has}.")
        if first > last:
            return cls(f"Lines {first}:{last} end before they begin: write {last}:{first}. {name} has {has}.")
        return cls(f"Lines {first}:{last} are not all in {name}, which has {has}.")


class TextTooLong(InputError):
    """Prompt and reply do not fit into the model's context."""

    code = -32018

    @classmethod
    def of(cls, name: str, n_tokens: int, limit: int, *, about: bool = False) -> TextTooLong:
        amount = f"about {n_tokens:,}" if about else f"{n_tokens:,}"
        return cls(
            f"{name} needs {amount} tokens (prompt and reply), the model's limit is {limit:,}. "
            "Edit a part of it with --lines A:B, or use a model with a longer context."
        )

    @classmethod
    def in_conversation(cls, n_tokens: int, limit: int, *, about: bool = False) -> TextTooLong:
        amount = f"at least {n_tokens:,}" if about else f"{n_tokens:,}"
        return cls(f"The conversation has {amount} tokens, and the model's limit for it and the reply is {limit:,}.")


class ReadOnlyTarget(InputError):
    """The edit is to be written, but the file or its folder cannot be written to."""

    code = -32019

    @classmethod
    def at(cls, path: str) -> ReadOnlyTarget:
        return cls(f"{path} is read-only; make it writable, or use --diff to see the edit without writing it.")


class UnsavedChanges(InputError):
    """The edit is to be written, but an editor holds another text than the file."""

    code = -32020

    @classmethod
    def at(cls, path: str) -> UnsavedChanges:
        return cls(f"{path} has unsaved changes in an editor. Save it first, or edit it there.")


class DocumentNotOpen(InputError):
    """No client has opened a document under this name."""

    code = -32021

    @classmethod
    def named(cls, uri: str) -> DocumentNotOpen:
        return cls(f"No document {uri!r} is open; open it with document/open first.")


class OutOfSync(InputError):
    """A change does not fit the document that it is for; the client opens the document again."""

    code = -32022

    @classmethod
    def of_version(cls, uri: str, held: int, given: int) -> OutOfSync:
        return cls(f"Version {given} of {uri} does not follow version {held}; open the document again.")

    @classmethod
    def of_range(cls, uri: str, reason: str) -> OutOfSync:
        return cls(f"A change does not fit the text of {uri} ({reason}); open the document again.")

    @classmethod
    def of_text(cls, uri: str) -> OutOfSync:
        return cls(f"{uri} is not the text with that fingerprint after the change; open the document again.")

    @classmethod
    def before(cls, uri: str) -> OutOfSync:
        return cls(f"A change did not fit {uri}, so its text is not known; open the document again.")


class DocumentLimit(InputError):
    """More documents, or a longer one, than the daemon holds."""

    code = -32023

    @classmethod
    def of_number(cls, limit: int) -> DocumentLimit:
        return cls(f"{limit:,} documents are open already; close one first.")

    @classmethod
    def of_bytes(cls, uri: str, limit: int) -> DocumentLimit:
        return cls(f"{uri} is larger than {limit // 2**20} MB.")


class SessionUnknown(InputError):
    """The daemon keeps no session of this id."""

    code = -32024

    @classmethod
    def named(cls, session: str) -> SessionUnknown:
        return cls(f"There is no session {session!r}: it is too old, or the daemon was restarted. Run the edit again.")


class KeyReused(InputError):
    """An idempotency key came with another request than the first time."""

    code = -32025

    @classmethod
    def of(cls, key: str) -> KeyReused:
        return cls(f"The idempotency key {key!r} belongs to another request of the last hour; choose another key.")


class Conflict(PlgdError):
    """The text changed while the model worked, inside the lines that the edit changes."""

    code = -32030
    exit_code = 3

    @classmethod
    def on(cls, path: str, what: str) -> Conflict:
        return cls(f"{path} changed while the model worked ({what}); it was left as it is. Run the edit again.")

    @classmethod
    def after_crash(cls, path: str) -> Conflict:
        return cls(
            f"{path} has another text than this request's first run found or was about to write when the daemon died. "
            "Look at the file, and run the edit again under another key."
        )


class WriteFailed(PlgdError):
    """The new text could not be put on disk; the old file is whole."""

    code = -32031

    @classmethod
    def at(cls, path: str, reason: str) -> WriteFailed:
        return cls(f"{path} was not written and is unchanged: {reason}.")

    @classmethod
    def not_undone(cls, path: str, reason: str) -> WriteFailed:
        return cls(
            f"The edit of several files stopped half way ({reason}), and {path} could not be given its old text back; "
            "the next start of the daemon tries again. See `plgd logs`."
        )

    @classmethod
    def page(cls, path: str, reason: str) -> WriteFailed:
        return cls(f"The page {path} cannot be written: {reason}.")


# Models -----------------------------------------------------------------------------------------


class ModelError(PlgdError):
    """A model cannot be found, fetched, checked or run."""

    code = -32040


class UnknownModel(ModelError):
    """The name is no catalog entry, no folder and no Hugging Face id."""

    code = -32041
    exit_code = 2

    @classmethod
    def named(cls, name: str, nearest: str | None = None) -> UnknownModel:
        hint = f" Did you mean {nearest!r}?" if nearest else ""
        return cls(
            f"No model is called {name!r}.{hint} Use a name of `plgd model list`, a folder, or a Hugging Face id "
            "(owner/name)."
        )

    @classmethod
    def no_folder(cls, path: str) -> UnknownModel:
        return cls(f"{path}: no such folder. A model's folder holds config.json, model*.safetensors and a tokenizer.")


class ModelNotPulled(ModelError):
    """The model is known but not on this machine; plgd never downloads unasked."""

    code = -32042

    @classmethod
    def named(cls, name: str, size: str) -> ModelNotPulled:
        return cls(f"The model {name!r} is not on this machine. Fetch it ({size}) with: plgd model pull {name}")


class UnsupportedModel(ModelError):
    """The model's architecture or format is not one that mlx-lm or plgd can load."""

    code = -32043

    @classmethod
    def of(cls, name: str, reason: str) -> UnsupportedModel:
        return cls(f"The model {name!r} cannot be run: {reason}.")


class DamagedModel(ModelError):
    """A model's files on disk are incomplete or changed."""

    code = -32044

    @classmethod
    def of(cls, name: str, reason: str) -> DamagedModel:
        is_folder = name.startswith(("/", "./", "../", "~"))
        remedy = "Copy or make the folder again." if is_folder else f"Fetch it again: plgd model pull {name} --force"
        return cls(f"The files of model {name!r} are damaged: {reason}. {remedy}")

    @classmethod
    def adapter(cls, name: str, file: str, reason: str) -> DamagedModel:
        return cls(
            f"The adapter {file} of model {name!r} cannot be used: {reason}. "
            f"Install plgd again; the model `{name}-base` works without the adapter."
        )


class PullFailed(ModelError):
    """A download did not finish; what arrived is kept and resumed by the next pull."""

    code = -32045

    @classmethod
    def of(cls, name: str, reason: str) -> PullFailed:
        return cls(
            f"{name!r} was not fetched: {reason}. Nothing was installed; "
            f"run `plgd model pull {name}` again to go on where it stopped."
        )


class HashMismatch(ModelError):
    """A downloaded file is not the one that was asked for; it was deleted."""

    code = -32046

    @classmethod
    def of(cls, name: str, expected: str, found: str) -> HashMismatch:
        return cls(
            f"{name} has SHA-256 {found[:16]}..., expected {expected[:16]}...; the download was deleted. "
            "Try again; if it happens twice, the server sends another file than the published one."
        )


class NoSpace(ModelError):
    """The disk cannot hold the model."""

    code = -32047

    @classmethod
    def at(cls, path: str, needed_bytes: int, free_bytes: int) -> NoSpace:
        return cls(
            f"{path} has {free_bytes / 1e6:,.0f} MB free, {needed_bytes / 1e6:,.0f} MB are needed. "
            "Free some space or set PLGD_CACHE_DIR to another disk."
        )


# Engine -----------------------------------------------------------------------------------------


class EngineError(PlgdError):
    """A round of the model failed; its session is dropped and the daemon lives."""

    code = -32050

    @classmethod
    def during(cls, what: str, reason: str) -> EngineError:
        return cls(f"The model failed during {what}: {reason}. The text is unchanged; try again.")


class RollbackFailed(EngineError):
    """A cache did not drop the tokens it was asked to drop; its session must not be used again."""

    code = -32051

    @classmethod
    def of(cls, asked: int, went: int, where: str) -> RollbackFailed:
        return cls(f"Rollback of {asked} tokens dropped {went} in {where}; the session was closed.")


# Bench ------------------------------------------------------------------------------------------


class BenchError(PlgdError):
    """A measurement cannot be made here, or its result cannot be kept."""

    code = -32090

    @classmethod
    def needs(cls, module: str, extra: str) -> BenchError:
        return cls(f'This needs {module}, which is not installed: pip install "plgd[{extra}]"')

    @classmethod
    def unwritable(cls, path: str, reason: str) -> BenchError:
        return cls(f"{path} was not written: {reason}.")

    @classmethod
    def unreadable(cls, what: str, reason: str) -> BenchError:
        return cls(f"{what} cannot be used: {reason}.")


# Daemon -----------------------------------------------------------------------------------------


class DaemonError(PlgdError):
    """The daemon cannot be reached or started."""

    code = -32060


class DaemonUnreachable(DaemonError):
    """No daemon listens on the socket."""

    code = -32061

    @classmethod
    def at(cls, socket: str) -> DaemonUnreachable:
        return cls(f"No plgd daemon answers on {socket}. Start it with: plgd start")

    @classmethod
    def silent(cls, socket: str, pid: int | None) -> DaemonUnreachable:
        remedy = f"`kill -CONT {pid}` wakes it if it was stopped, `kill -9 {pid}` ends it" if pid else "End its process"
        return cls(f"The plgd daemon (process {pid or 'unknown'}) listens on {socket} but does not answer. {remedy}.")


class StartFailed(DaemonError):
    """The daemon was started but did not come up."""

    code = -32062

    @classmethod
    def because(cls, reason: str, log: str) -> StartFailed:
        return cls(f"The daemon did not start: {reason}. Its log is {log}; `plgd doctor` checks the installation.")

    @classmethod
    def in_foreign_folder(cls, folder: str) -> StartFailed:
        return cls(
            f"The daemon does not start in {folder}, which belongs to another user. Set PLGD_RUNTIME_DIR to a folder "
            "that is not there yet."
        )

    @classmethod
    def in_open_folder(cls, folder: str, mode: int) -> StartFailed:
        return cls(
            f"The daemon does not start in {folder}, which other users may enter (mode {mode:04o}). If it is plgd's "
            f"alone: chmod 700 {folder}. Else set PLGD_RUNTIME_DIR to a folder that is not there yet."
        )


class AlreadyRunning(DaemonError):
    """Another daemon of this user holds the lock."""

    code = -32063

    @classmethod
    def as_pid(cls, pid: int | None) -> AlreadyRunning:
        return cls(f"A plgd daemon is already running (process {pid or 'unknown'}).")


class SocketPathTooLong(DaemonError):
    """The operating system limits the length of a socket's path."""

    code = -32064

    @classmethod
    def of(cls, path: str, limit: int) -> SocketPathTooLong:
        return cls(
            f"The socket path {path} has {len(path.encode())} bytes, this system allows {limit}. "
            "Set PLGD_RUNTIME_DIR to a shorter folder."
        )


class VersionMismatch(DaemonError):
    """The daemon speaks another protocol than the client."""

    code = -32065

    @classmethod
    def between(cls, client: str, daemon: str) -> VersionMismatch:
        if client == daemon:
            return cls(f"The daemon is another build of plgd {daemon}. Restart it with: plgd restart")
        return cls(
            f"The daemon is plgd {daemon}, this is plgd {client}. Update the older of the two, or stop the daemon with "
            "its own `plgd stop`."
        )


class ConnectionLost(DaemonError):
    """The daemon went away before it answered."""

    code = -32066

    def __init__(self, message: str = "The daemon went away before it answered; see `plgd logs`.") -> None:
        super().__init__(message)


# Protocol ---------------------------------------------------------------------------------------


class ProtocolError(PlgdError):
    """A message on the socket is not what the protocol says."""

    code = -32099


class ParseError(ProtocolError):
    """The line is not JSON."""

    code = -32700


class InvalidRequest(ProtocolError):
    """The JSON is not a JSON-RPC 2.0 message."""

    code = -32600


class MethodNotFound(ProtocolError):
    """The daemon has no such method."""

    code = -32601

    @classmethod
    def named(cls, method: str, nearest: str | None = None) -> MethodNotFound:
        hint = f" Did you mean {nearest!r}?" if nearest else ""
        return cls(f"There is no method {method!r}.{hint}")


class InvalidParams(ProtocolError):
    """The parameters are not of the method's type."""

    code = -32602
    exit_code = 2


class FrameTooLarge(ProtocolError):
    """A message is longer than the limit; the connection is closed."""

    code = -32070

    @classmethod
    def of(cls, limit: int) -> FrameTooLarge:
        return cls(f"The message is longer than {limit:,} bytes; the connection was closed.")


class HelloFirst(ProtocolError):
    """The first request of a connection must be `hello`."""

    code = -32071

    def __init__(self, message: str = "The first request of a connection must be `hello`.") -> None:
        super().__init__(message)


class QueueFull(PlgdError):
    """As many requests wait as the daemon takes."""

    code = -32080

    @classmethod
    def of(cls, limit: int) -> QueueFull:
        return cls(f"{limit} requests are already waiting; try again in a moment.")


class ShuttingDown(PlgdError):
    """The daemon finishes what it has and takes nothing new."""

    code = -32081

    def __init__(self, message: str = "The daemon is shutting down; run the command again.") -> None:
        super().__init__(message)


class TooManyConnections(PlgdError):
    """As many clients are connected as the daemon takes."""

    code = -32082

    @classmethod
    def of(cls, limit: int) -> TooManyConnections:
        return cls(f"{limit} clients are already connected; close one and try again.")


class Cancelled(PlgdError):
    """The request was cancelled by its client."""

    code = -32800  # LSP's RequestCancelled
    exit_code = 130

    def __init__(self, message: str = "Cancelled; nothing was changed.") -> None:
        super().__init__(message)


def _tree(root: type[PlgdError]) -> list[type[PlgdError]]:
    return [root, *(leaf for child in root.__subclasses__() for leaf in _tree(child))]


BY_CODE: Final[dict[int, type[PlgdError]]] = {cls.code: cls for cls in _tree(PlgdError)}


def from_wire(code: int, message: str) -> PlgdError:
    """Make the exception that a JSON-RPC error stands for; an unknown code becomes `PlgdError`."""
    return BY_CODE.get(code, PlgdError)(message)
