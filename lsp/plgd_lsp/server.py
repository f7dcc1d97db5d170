"""The language server on one connection: pygls' dispatch, plgd's parts."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import Any, Final, TypeVar, cast, get_args

import anyio
import msgspec
from anyio.abc import TaskGroup
from cattrs import Converter
from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from plgd.config import PresetConfig
from plgd.errors import PlgdError
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.methods import STATUS
from plgd.text.positions import Encoding
from plgd.version import __version__
from plgd_lsp.abilities import Abilities
from plgd_lsp.actions import KINDS, Actions
from plgd_lsp.applying import Applier
from plgd_lsp.asking import Asking
from plgd_lsp.commands import Answer, Awaited, Commands
from plgd_lsp.editing import Editing
from plgd_lsp.editor import Editor
from plgd_lsp.link import Link, LinkState
from plgd_lsp.mirror import Mirror
from plgd_lsp.options import Options, read_options
from plgd_lsp.parent import is_alive
from plgd_lsp.protocol import Protocol
from plgd_lsp.review import Reviews
from plgd_lsp.session import Sessions
from plgd_lsp.status import Status, StatusBoard
from plgd_lsp.sync import Sync

__all__ = ("Server", "shared_converter")

ParamsT = TypeVar("ParamsT")
ResultT = TypeVar("ResultT")

_LOG: Final = logging.getLogger(__name__)

# Cells of every kind: a prompt can be edited as well as code.
_NOTEBOOKS: Final = types.NotebookDocumentSyncOptions(
    notebook_selector=[types.NotebookDocumentFilterWithNotebook(notebook="*")]
)


class Server:
    """Everything that one editor needs.

    Args:
        paths: the user's folders.
        group: owns what runs in the background.
        presets: the instructions of the configuration.
        complaints: sentences about the configuration that the user should see.
        frame_limit: bytes that the daemon takes in one message.

    Attributes:
        pygls: the connection's dispatcher.
        introduced: set when the editor has said who it is.
        editor_process: the editor's process, if it can be seen from here.
    """

    def __init__(
        self,
        paths: Paths,
        group: TaskGroup,
        presets: tuple[PresetConfig, ...],
        complaints: tuple[str, ...] = (),
        *,
        frame_limit: int,
    ) -> None:
        self.pygls = LanguageServer(
            "plgd",
            __version__,
            notebook_document_sync=_NOTEBOOKS,
            protocol_cls=Protocol,
            converter_factory=shared_converter,
            max_workers=1,
        )
        self._paths = paths
        self._group = group
        self._presets = presets
        self._complaints = complaints
        self._mirror = Mirror()
        self._editor = Editor(self.pygls)
        self._sync = Sync(self._mirror, frame_limit=frame_limit)
        self._board = StatusBoard(self._tell_status)
        self._link = Link(paths, self._sync, self._note_link)
        self._sessions = Sessions()
        self._reviews = Reviews(self._editor, self._mirror, self._sessions)
        self._editing: Editing | None = None
        self._has_asked = False
        self.introduced = anyio.Event()
        self.editor_process: int | None = None
        self._actions = Actions(self._mirror, self._editor, self._reviews, Options(), presets)
        self._register()

    @property
    def protocol(self) -> Protocol:
        """The connection."""
        return cast("Protocol", self.pygls.protocol)

    def _register(self) -> None:
        handlers: dict[str, Callable[[Any], Any]] = {
            types.INITIALIZE: self._initialize,
            types.INITIALIZED: self._initialized,
            types.TEXT_DOCUMENT_DID_OPEN: self._did_open,
            types.TEXT_DOCUMENT_DID_CHANGE: self._did_change,
            types.TEXT_DOCUMENT_DID_CLOSE: self._did_close,
            types.NOTEBOOK_DOCUMENT_DID_OPEN: self._notebook_did_open,
            types.NOTEBOOK_DOCUMENT_DID_CHANGE: self._notebook_did_change,
            types.NOTEBOOK_DOCUMENT_DID_CLOSE: self._notebook_did_close,
            types.WINDOW_WORK_DONE_PROGRESS_CANCEL: self._cancel_progress,
        }
        for method, handler in handlers.items():
            self.pygls.feature(method)(_plain_function(handler))
        options = types.CodeActionOptions(code_action_kinds=list(KINDS))
        self.pygls.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(_plain_function(self._code_action))

    def _initialize(self, params: types.InitializeParams) -> None:
        """Learn what the editor can do and wants; the daemon is not needed for it."""
        options, complaints = read_options(params.initialization_options)
        self._complaints += complaints
        self._editor.abilities = Abilities.of(params.capabilities)
        asking = Asking(self._mirror, self._link, self._sync, options)
        applier = Applier(self._editor, self._mirror)
        self._editing = Editing(
            self._group, self._editor, self._link, asking, applier, self._reviews, self._sessions, self._board
        )
        commands = Commands(
            self._mirror, options, self._editing, self._reviews, self._sessions, self._link, self._board
        )
        for name, immediate in commands.immediate.items():
            self.pygls.command(name)(_plain_function(immediate))
        for name, awaited in commands.awaited.items():
            self.pygls.command(name)(_awaited(awaited))
        self._actions = Actions(self._mirror, self._editor, self._reviews, options, self._presets)
        if params.process_id is not None and is_alive(params.process_id):
            # Otherwise it is of another namespace of processes, as in a container, and the pipe has to do.
            self.editor_process = params.process_id
        self.introduced.set()

    def _initialized(self, _params: types.InitializedParams) -> None:
        self._mirror.encoding = _encoding(self.pygls.server_capabilities.position_encoding)
        for complaint in self._complaints:
            self._editor.show("warning", complaint)
        self._group.start_soon(self._link.run)
        self._group.start_soon(self._reviews.run)

    def _did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._open(params.text_document)

    def _did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._change(params.text_document, params.content_changes)

    def _did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._close(params.text_document.uri)

    def _notebook_did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        for cell in params.cell_text_documents:
            self._open(cell)

    def _notebook_did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        cells = params.change.cells
        if cells is None:
            return
        if cells.structure is not None:
            for opened in cells.structure.did_open or ():
                self._open(opened)
            for closed in cells.structure.did_close or ():
                self._close(closed.uri)
        for content in cells.text_content or ():
            self._change(content.document, content.changes)

    def _notebook_did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        for cell in params.cell_text_documents:
            self._close(cell.uri)

    def _open(self, item: types.TextDocumentItem) -> None:
        self._mirror.open(item)
        self._sync.note_open(item.uri)
        # Once: a daemon that the user stops afterwards stays stopped until an edit needs it.
        if not self._has_asked:
            self._has_asked = True
            self._link.want()

    def _change(
        self,
        identifier: types.VersionedTextDocumentIdentifier,
        changes: Sequence[types.TextDocumentContentChangeEvent],
    ) -> None:
        if self._mirror.get(identifier.uri) is None:
            _LOG.warning("a change of %s, which is not open", identifier.uri)
            return
        self._sync.note_change(identifier.uri, self._mirror.change(identifier.uri, identifier.version, changes))

    def _close(self, uri: str) -> None:
        self._mirror.close(uri)
        self._sync.note_close(uri)

    def _code_action(self, params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        return self._actions.offer(params)

    def _cancel_progress(self, params: types.WorkDoneProgressCancelParams) -> None:
        if self._editing is not None:
            self._editing.cancel_token(params.token)

    def _tell_status(self, status: Status) -> None:
        self._editor.notify("plgd/status", msgspec.to_builtins(status))

    def _note_link(self, state: LinkState, message: str) -> None:
        self._board.note_link(state, message)
        if state == "connected":
            self._group.start_soon(self._ask_status)

    async def _ask_status(self) -> None:
        client = self._link.connected
        if client is None:
            return
        try:
            self._board.note_daemon(await client.call(STATUS, NoParams()))
        except PlgdError as error:
            _LOG.info("no status: %s", error)


@cache
def shared_converter() -> Converter:
    """Return what encodes and decodes messages; it compiles code for each type that it meets, so there is one."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]  # pygls has no annotation there
    return converter


def _encoding(agreed: types.PositionEncodingKind | str | None) -> Encoding:
    known: tuple[Encoding, ...] = get_args(Encoding)
    return next((encoding for encoding in known if encoding == agreed), "utf-16")


def _plain_function(method: Callable[[ParamsT], ResultT]) -> Callable[[ParamsT], ResultT]:
    """Return what pygls can write its attributes on, as it does on every handler."""

    def handle(params: ParamsT) -> ResultT:
        return method(params)

    return handle


def _awaited(handler: Awaited) -> Callable[[tuple[object, ...]], Awaitable[Answer]]:
    async def handle(arguments: tuple[object, ...]) -> Answer:
        return await handler(arguments)

    return handle
