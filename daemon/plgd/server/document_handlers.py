"""What the daemon does for the methods of documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from plgd.documents.open import Opened, TextEdit
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.protocol import methods
from plgd.protocol.base import NoParams
from plgd.protocol.documents import (
    ChangeParams,
    ChangeResult,
    CloseParams,
    CloseResult,
    DocumentListResult,
    OpenDocumentInfo,
    OpenParams,
    OpenResult,
    TextChange,
    TextPosition,
)
from plgd.server.dispatch import Call, Client, Dispatcher
from plgd.text.fingerprint import fingerprint
from plgd.text.positions import Position

__all__ = ("DocumentHandlers",)

_NO_STATE: Final = (0, 0)


class DocumentHandlers:
    """Holds what editors have open. Changes are made on the event loop, in the order in which they arrive.

    Args:
        documents: where they are held.
        store: what is kept of them; only its counts are read.
        on_change: told of every text that is new.
    """

    def __init__(self, documents: DocumentStore, store: WarmStore, on_change: Callable[[], None]) -> None:
        self._documents = documents
        self._store = store
        self._on_change = on_change
        self._clients: set[Client] = set()

    def register(self, dispatcher: Dispatcher) -> None:
        """Let every method be answered."""
        dispatcher.add(methods.DOCUMENT_OPEN, self.open)
        dispatcher.add(methods.DOCUMENT_CHANGE, self.change)
        dispatcher.add(methods.DOCUMENT_CLOSE, self.close)
        dispatcher.add(methods.DOCUMENT_LIST, self.list)

    async def open(self, call: Call, params: OpenParams) -> OpenResult:
        """Hold a document until it is closed or its client leaves."""
        client = call.client
        opened = self._documents.open.open(
            client, params.uri, params.text, params.version, encoding=params.encoding, name=params.name or ""
        )
        if client not in self._clients:
            self._clients.add(client)
            client.farewells.append(lambda: self._leave(client))
        self._on_change()
        return OpenResult(
            uri=opened.uri, path=str(opened.path or ""), version=opened.version, fingerprint=_fingerprint(opened)
        )

    async def change(self, call: Call, params: ChangeParams) -> ChangeResult:
        """Change a document."""
        edits = [_edit(change) for change in params.changes]
        opened = self._documents.open.change(
            call.client, params.uri, params.version, edits, expected=params.fingerprint
        )
        self._on_change()
        return ChangeResult(uri=opened.uri, version=opened.version)

    async def close(self, call: Call, params: CloseParams) -> CloseResult:
        """Forget a document; what is kept of its text stays until the memory is needed."""
        self._documents.open.close(call.client, params.uri)
        return CloseResult(uri=params.uri)

    async def list(self, _call: Call, _params: NoParams) -> DocumentListResult:
        """List every client's documents."""
        states = {document: (n_tokens, n_bytes) for document, n_tokens, n_bytes in self._store.counts.documents}
        return DocumentListResult(
            documents=tuple(
                _describe(opened, *states.get(opened.key, _NO_STATE)) for opened in self._documents.open.all()
            )
        )

    def _leave(self, client: Client) -> None:
        self._clients.discard(client)
        self._documents.open.leave(client)


def _edit(change: TextChange) -> TextEdit:
    if change.range is None:
        return TextEdit(change.text)
    return TextEdit(change.text, _position(change.range.start), _position(change.range.end))


def _position(position: TextPosition) -> Position:
    return Position(position.line, position.character)


def _describe(opened: Opened, n_tokens: int, kv_bytes: int) -> OpenDocumentInfo:
    return OpenDocumentInfo(
        uri=opened.uri,
        path=str(opened.path or ""),
        version=opened.version,
        fingerprint=_fingerprint(opened),
        n_bytes=len(opened.text.encode()),
        n_lines=opened.n_lines,
        warm_tokens=n_tokens,
        kv_bytes=kv_bytes,
    )


def _fingerprint(opened: Opened) -> str:
    return fingerprint(opened.text.encode())
