"""The one table of methods. Dispatcher, client, documentation and samples are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import msgspec

from plgd.protocol.base import NoParams
from plgd.protocol.daemon import (
    CancelParams,
    DoctorResult,
    HelloParams,
    HelloResult,
    PingResult,
    StatusResult,
    StopParams,
    StopResult,
)
from plgd.protocol.discovery import DiscoverResult
from plgd.protocol.documents import (
    ChangeParams,
    ChangeResult,
    CloseParams,
    CloseResult,
    DocumentListResult,
    OpenParams,
    OpenResult,
    WarmParams,
    WarmResult,
)
from plgd.protocol.edit_many import EditManyParams, EditManyResult
from plgd.protocol.edits import EditDelta, EditParams, EditProgress, EditResult
from plgd.protocol.models import ModelInfo, ModelListResult, ModelParams, PullParams, PullProgress
from plgd.protocol.sessions import AcceptParams, AcceptResult, RejectParams, SessionParams, SessionResult

__all__ = ("METHODS", "NOTIFICATIONS", "Method", "Notification")

ParamsT = TypeVar("ParamsT", bound=msgspec.Struct)
ResultT = TypeVar("ResultT", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Method(Generic[ParamsT, ResultT]):
    """A request that has an answer.

    Attributes:
        repeatable: asking twice does no more than asking once, so a request whose answer was lost may be sent again.
            One with an `idempotency_key` may, too.
    """

    name: str
    params: type[ParamsT]
    result: type[ResultT]
    summary: str
    repeatable: bool = True


@dataclass(frozen=True, slots=True)
class Notification(Generic[ParamsT]):
    """A message without an answer; `sender` says who sends it."""

    name: str
    params: type[ParamsT]
    sender: str
    summary: str


HELLO: Final = Method("hello", HelloParams, HelloResult, "Introduce the client; the first request of a connection.")
PING: Final = Method("ping", NoParams, PingResult, "Do nothing; measures the round trip.")
STATUS: Final = Method("status", NoParams, StatusResult, "Say what the daemon is doing; never waits for the model.")
EDIT: Final = Method("edit", EditParams, EditResult, "Rewrite a text as instructed.", repeatable=False)
EDIT_MANY: Final = Method(
    "edit/many", EditManyParams, EditManyResult, "Rewrite several files, if wanted all or none.", repeatable=False
)
EDIT_STATUS: Final = Method("edit/status", SessionParams, SessionResult, "Say what became of an edit and its file.")
EDIT_ACCEPT: Final = Method("edit/accept", AcceptParams, AcceptResult, "Write hunks of a proposal to its file.")
EDIT_REJECT: Final = Method("edit/reject", RejectParams, SessionResult, "Decide against hunks of a proposal.")
DISCOVER: Final = Method("rpc.discover", NoParams, DiscoverResult, "Describe the protocol itself, as OpenRPC.")
DOCUMENT_OPEN: Final = Method(
    "document/open", OpenParams, OpenResult, "Hold a text that an editor has open.", repeatable=False
)
DOCUMENT_CHANGE: Final = Method(
    "document/change", ChangeParams, ChangeResult, "Change an open document.", repeatable=False
)
DOCUMENT_CLOSE: Final = Method("document/close", CloseParams, CloseResult, "Forget an open document.", repeatable=False)
DOCUMENT_LIST: Final = Method("document/list", NoParams, DocumentListResult, "List the open documents.")
DOCUMENT_WARM: Final = Method("document/warm", WarmParams, WarmResult, "Prefill a file for the next edit of it.")
STOP: Final = Method(
    "stop", StopParams, StopResult, "Finish the work, remove the socket, answer and exit.", repeatable=False
)
MODEL_LIST: Final = Method("model/list", NoParams, ModelListResult, "List the catalog and every pulled model.")
MODEL_INFO: Final = Method("model/info", ModelParams, ModelInfo, "Describe one model.")
MODEL_USE: Final = Method("model/use", ModelParams, ModelInfo, "Make a model the default, now and after a restart.")
MODEL_PULL: Final = Method("model/pull", PullParams, ModelInfo, "Fetch a model; resumes where it was interrupted.")
DOCTOR: Final = Method("doctor", NoParams, DoctorResult, "Check device, BLAS, versions, paths and memory.")

METHODS: Final[dict[str, Method[msgspec.Struct, msgspec.Struct]]] = {
    method.name: method  # type: ignore[misc]  # the table forgets what each entry knows of its types
    for method in (
        HELLO,
        PING,
        STATUS,
        EDIT,
        EDIT_MANY,
        EDIT_STATUS,
        EDIT_ACCEPT,
        EDIT_REJECT,
        DOCUMENT_OPEN,
        DOCUMENT_CHANGE,
        DOCUMENT_CLOSE,
        DOCUMENT_LIST,
        DOCUMENT_WARM,
        STOP,
        MODEL_LIST,
        MODEL_INFO,
        MODEL_USE,
        MODEL_PULL,
        DOCTOR,
        DISCOVER,
    )
}

CANCEL: Final = Notification("$/cancelRequest", CancelParams, "client", "Stop a request of this connection.")
EDIT_PROGRESS: Final = Notification("edit/progress", EditProgress, "daemon", "Where an edit is.")
EDIT_DELTA: Final = Notification("edit/delta", EditDelta, "daemon", "Text of a reply as it comes.")
MODEL_PROGRESS: Final = Notification("model/progress", PullProgress, "daemon", "Where a download is.")

NOTIFICATIONS: Final[dict[str, Notification[msgspec.Struct]]] = {
    note.name: note  # type: ignore[misc]
    for note in (CANCEL, EDIT_PROGRESS, EDIT_DELTA, MODEL_PROGRESS)
}
