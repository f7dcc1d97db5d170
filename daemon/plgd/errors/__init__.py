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
│   └── ClientBusy               (a QueueFull)
├── DeadlinePassed               the request was not done in its time
└── Cancelled                    the request was cancelled

A class carries the JSON-RPC error code it travels under and the exit code that the CLI gives for it;
`BY_CODE` maps a code back to its class. Messages are assembled in the classes, from real arguments. The modules of this
package go by what an error is about; everybody imports from here.
"""

from __future__ import annotations

from typing import Final

from plgd.errors.base import PlgdError
from plgd.errors.daemon import (
    AlreadyRunning,
    ClientBusy,
    ConnectionLost,
    DaemonError,
    DaemonUnreachable,
    QueueFull,
    ShuttingDown,
    SocketPathTooLong,
    StartFailed,
    TooManyConnections,
    VersionMismatch,
)
from plgd.errors.models import (
    DamagedModel,
    EngineError,
    HashMismatch,
    ModelError,
    ModelNotPulled,
    NoSpace,
    PullFailed,
    RollbackFailed,
    UnknownModel,
    UnsupportedModel,
)
from plgd.errors.protocol import (
    FrameTooLarge,
    HelloFirst,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    ProtocolError,
)
from plgd.errors.requests import (
    Cancelled,
    Conflict,
    DeadlinePassed,
    DocumentLimit,
    DocumentNotOpen,
    EmptyInstruction,
    FileMissing,
    FileUnreadable,
    InputError,
    KeyReused,
    LinesOutOfRange,
    NotAFile,
    NotText,
    OutOfSync,
    ReadOnlyTarget,
    SessionUnknown,
    TextTooLong,
    UnsavedChanges,
    WriteFailed,
)
from plgd.errors.setup import BenchError, ConfigError

__all__ = (
    "BY_CODE",
    "AlreadyRunning",
    "BenchError",
    "Cancelled",
    "ClientBusy",
    "ConfigError",
    "Conflict",
    "ConnectionLost",
    "DaemonError",
    "DaemonUnreachable",
    "DamagedModel",
    "DeadlinePassed",
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


def _tree(root: type[PlgdError]) -> list[type[PlgdError]]:
    return [root, *(leaf for child in root.__subclasses__() for leaf in _tree(child))]


BY_CODE: Final[dict[int, type[PlgdError]]] = {cls.code: cls for cls in _tree(PlgdError)}


def from_wire(code: int, message: str, retry_after_s: float = 0.0) -> PlgdError:
    """Make the exception that a JSON-RPC error stands for; an unknown code becomes `PlgdError`.

    Args:
        code: of the error.
        message: of the error.
        retry_after_s: with a queue that is full, when to try again.
    """
    error = BY_CODE.get(code, PlgdError)(message)
    if isinstance(error, QueueFull):
        error.retry_after_s = retry_after_s
    return error
