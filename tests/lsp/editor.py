"""An editor as a test sees it: pytest-lsp's client on a real `plgd lsp`, with buffers that edits are applied to."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import Any, BinaryIO, Final

import anyio
from lsprotocol import types
from pygls.io_ import run_async
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

from lsp.texts import changed
from plgd.config import Config
from plgd.paths import Paths
from plgd.text.positions import Encoding
from plgd_lsp.process import serve
from plgd_lsp.server import shared_converter
from plgd_lsp.stdio import Writer

__all__ = ("PATIENCE_S", "Buffer", "Editor", "capabilities", "introduce", "opened_editor", "started_editor")

# Bounds every wait of a test; never what a passing test waits for.
PATIENCE_S: Final = 30.0
# What the tests call an editor -> what pytest-lsp has recorded of it.
RECORDED: Final = {"vscode": "visual-studio-code", "neovim": "neovim", "emacs": "emacs"}


@dataclass
class Buffer:
    """A text that the editor has open.

    Attributes:
        notebook: of which it is a cell.
        undo: the texts before each edit that was applied.
    """

    uri: str
    text: str
    version: int = 1
    notebook: str = ""
    undo: list[str] = field(default_factory=list)


class Editor:
    """The client's end, with what the server has said.

    Attributes:
        client: pytest-lsp's.
        buffers: by URI.
        edits: the workspace edits that came.
        notes: plgd's notifications, (method, parameters).
        server: what the server says it can do.
        exit_code: of the server, once it has ended.
        before_apply: called before an edit is looked at, as a place to type.
        declines: say that the user does not want any edit.
        drops_stale: say that edits for an older text were applied, and do nothing, as Neovim does.
        is_mute: say that edits were applied, and do nothing.
    """

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.encoding: Encoding = "utf-16"
        self.buffers: dict[str, Buffer] = {}
        self.edits: list[types.ApplyWorkspaceEditParams] = []
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.before_apply: Callable[[], None] = lambda: None
        self.is_mute = False
        self.declines = False
        self.drops_stale = False
        self.exit_code: int | None = None
        self.server: types.InitializeResult
        self._news = asyncio.Event()
        # lsprotocol takes every action with a command for a command.
        vars(client.protocol)["get_result_type"] = _RawResults(client.protocol.get_result_type)
        client.feature(types.WORKSPACE_APPLY_EDIT)(self._answer())
        for method in ("plgd/status", "plgd/proposal", "plgd/finished"):
            client.feature(method)(self._listener(method))

    def open(self, uri: str, text: str, language: str = "python") -> Buffer:
        """Open a buffer."""
        self.buffers[uri] = Buffer(uri, text)
        item = types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return self.buffers[uri]

    def note(self, uri: str, text: str, notebook: str) -> Buffer:
        """Have a cell of a notebook; the notebook's own messages open and close it."""
        self.buffers[uri] = Buffer(uri, text, notebook=notebook)
        return self.buffers[uri]

    def close(self, buffer: Buffer) -> None:
        """Close a buffer."""
        del self.buffers[buffer.uri]
        identifier = types.TextDocumentIdentifier(buffer.uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    def type(self, buffer: Buffer, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Replace a range of a buffer, as typing does."""
        span = types.Range(types.Position(*start), types.Position(*end))
        buffer.text = changed(buffer.text, [types.TextEdit(span, text)], self.encoding)
        buffer.version += 1
        self._tell(buffer, [types.TextDocumentContentChangePartial(range=span, text=text)])

    def replace(self, buffer: Buffer, text: str) -> None:
        """Replace the whole text, as an undo may."""
        buffer.text = text
        buffer.version += 1
        self._tell(buffer, [types.TextDocumentContentChangeWholeDocument(text=text)])

    async def command(self, name: str, **arguments: object) -> dict[str, Any]:
        """Execute a command and return its answer as plain data."""
        return await self.execute(name, [arguments])

    async def execute(self, name: str, arguments: list[Any]) -> dict[str, Any]:
        """Execute a command with arguments as they are."""
        params = types.ExecuteCommandParams(command=name, arguments=arguments)
        answer = await asyncio.wait_for(self.client.workspace_execute_command_async(params), PATIENCE_S)
        plain: dict[str, Any] = _plain(answer)
        return plain

    async def actions(
        self,
        buffer: Buffer,
        start: tuple[int, int],
        end: tuple[int, int],
        context: types.CodeActionContext | None = None,
    ) -> list[dict[str, Any]]:
        """Ask for the code actions of a range."""
        span = types.Range(types.Position(*start), types.Position(*end))
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(buffer.uri), span, context or types.CodeActionContext([])
        )
        protocol: Any = self.client.protocol  # without annotations in pytest-lsp
        answer = protocol.send_request_async(types.TEXT_DOCUMENT_CODE_ACTION, params)
        offered: list[dict[str, Any]] = _plain(await asyncio.wait_for(answer, PATIENCE_S))
        return offered

    async def run(self, action: dict[str, Any]) -> dict[str, Any]:
        """Execute the command of a code action, or a command."""
        command = action["command"] if isinstance(action["command"], dict) else action
        return await self.execute(command["command"], command["arguments"])

    async def edit(self, buffer: Buffer, instruction: str, **more: object) -> str:
        """Ask for an edit; return its session."""
        session: str = (await self.command("plgd.edit", uri=buffer.uri, instruction=instruction, **more))["session"]
        return session

    async def wait(self, method: str, wanted: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
        """Wait for a notification that fits, and return the first."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                news = self._news
                for name, params in self.notes:
                    if name == method and wanted(params):
                        return params
                await news.wait()

    async def finished(self, session: str) -> dict[str, Any]:
        """Wait for a session's last word."""
        return await self.wait("plgd/finished", lambda params: params["session"] == session)

    def last(self, method: str) -> dict[str, Any]:
        """Return the last notification."""
        return [params for name, params in self.notes if name == method][-1]

    def _listener(self, method: str) -> Callable[[Any], None]:
        def listen(params: Any) -> None:  # noqa: ANN401  # named tuples of pygls
            self.notes.append((method, _plain(params)))
            self._news.set()
            self._news = asyncio.Event()

        return listen

    def _answer(self) -> Callable[[types.ApplyWorkspaceEditParams], types.ApplyWorkspaceEditResult]:
        def answer(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            return self._apply(params)

        return answer

    def _apply(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        self.edits.append(params)
        self.before_apply()
        if self.declines:
            return types.ApplyWorkspaceEditResult(applied=False)
        for uri, version, _ in _documents(params.edit):
            buffer = self.buffers[uri]
            if version is not None and version != buffer.version:
                return types.ApplyWorkspaceEditResult(applied=self.drops_stale, failure_reason="another version")
        for uri, _, edits in _documents(params.edit):
            buffer = self.buffers[uri]
            if self.is_mute:
                continue
            buffer.undo.append(buffer.text)
            self.replace(buffer, changed(buffer.text, edits, self.encoding))
        return types.ApplyWorkspaceEditResult(applied=True)

    def _tell(self, buffer: Buffer, changes: list[types.TextDocumentContentChangeEvent]) -> None:
        identifier = types.VersionedTextDocumentIdentifier(uri=buffer.uri, version=buffer.version)
        if not buffer.notebook:
            self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))
            return
        content = types.NotebookDocumentCellContentChanges(identifier, changes)
        self.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(buffer.version, buffer.notebook),
                types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[content])),
            )
        )


def capabilities(name: str) -> types.ClientCapabilities:
    """Return what a real editor said that it can do."""
    return deepcopy(_recorded(RECORDED[name]))


@asynccontextmanager
async def opened_editor(
    *,
    can: types.ClientCapabilities | None = None,
    encodings: list[Encoding] | None = None,
    options: object = None,
    name: str = "test",
    config: Config | None = None,
) -> AsyncIterator[Editor]:
    """Introduce an editor to a language server in the test's own event loop."""
    client = _client()
    editor = Editor(client)
    with BytesIO() as nowhere:
        inward, outward = _Pipe(nowhere), _Pipe(nowhere)
        client.protocol.set_writer(inward)
        async with anyio.create_task_group() as group:
            served = anyio.Event()

            async def serve_editor() -> None:
                editor.exit_code = await serve(inward.reader, outward, Paths.from_environment(), config or Config(), ())
                served.set()

            group.start_soon(serve_editor)
            group.start_soon(run_async, threading.Event(), outward.reader, client.protocol)
            await introduce(editor, can=can, encodings=encodings, options=options, name=name)
            try:
                yield editor
            finally:
                await asyncio.wait_for(client.shutdown_async(None), PATIENCE_S)
                client.exit(None)
                with anyio.fail_after(PATIENCE_S):
                    await served.wait()
                group.cancel_scope.cancel()


@asynccontextmanager
async def started_editor(*, options: object = None, env: dict[str, str] | None = None) -> AsyncIterator[Editor]:
    """Start `plgd lsp` as a process of its own, as editors do, and introduce an editor to it."""
    client = _client()
    editor = Editor(client)
    await client.start_io(sys.executable, "-m", "plgd_cli", "lsp", env=os.environ | (env or {}))
    await introduce(editor, options=options)
    try:
        yield editor
    finally:
        await asyncio.wait_for(client.shutdown_session(), PATIENCE_S)
        await _stop(client)


async def introduce(
    editor: Editor,
    *,
    can: types.ClientCapabilities | None = None,
    encodings: list[Encoding] | None = None,
    options: object = None,
    name: str = "test",
) -> None:
    """Say what the editor can do, and hear what the server can."""
    can = can or types.ClientCapabilities()
    if encodings is not None:
        can.general = can.general or types.GeneralClientCapabilities()
        can.general.position_encodings = list(encodings)
    params = types.InitializeParams(
        capabilities=can, initialization_options=options, client_info=types.ClientInfo(name)
    )
    editor.server = await asyncio.wait_for(editor.client.initialize_session(params), PATIENCE_S)
    agreed = editor.server.capabilities.position_encoding
    editor.encoding = "utf-8" if agreed == types.PositionEncodingKind.Utf8 else "utf-16"


_recorded = cache(client_capabilities)


def _client() -> LanguageClient:
    """Make what `make_test_lsp_client` makes, in a tenth of the time."""
    client = LanguageClient(converter_factory=shared_converter)
    register_lsp_features(client)
    return client


async def _stop(client: Any) -> None:  # noqa: ANN401  # without annotations in pytest-lsp
    await client.stop()


@dataclass(frozen=True)
class _RawResults:
    """What results are decoded as; None for plain data."""

    known: Callable[[str], type[Any] | None]

    def __call__(self, method: str) -> type[Any] | None:
        return None if method == types.TEXT_DOCUMENT_CODE_ACTION else self.known(method)


class _Pipe(Writer):
    """One direction of a connection inside a process."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.reader = asyncio.StreamReader()

    def write(self, data: bytes) -> None:
        self.reader.feed_data(data)


def _documents(edit: types.WorkspaceEdit) -> list[tuple[str, int | None, list[types.TextEdit]]]:
    if edit.document_changes is None:
        return [(uri, None, list(edits)) for uri, edits in (edit.changes or {}).items()]
    found = []
    for change in edit.document_changes:
        assert isinstance(change, types.TextDocumentEdit)
        edits = [
            types.TextEdit(one.range, one.new_text)
            for one in change.edits
            if not isinstance(one, types.SnippetTextEdit)
        ]
        found.append((change.text_document.uri, change.text_document.version, edits))
    return found


def _plain(value: Any) -> Any:  # noqa: ANN401  # whatever pygls made of JSON
    if hasattr(value, "_asdict"):
        return {key: _plain(member) for key, member in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return value
