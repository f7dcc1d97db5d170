"""What the daemon does for the methods of documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio
from anyio.lowlevel import checkpoint

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
    """Holds what editors have open.

    Changes are made on the event loop, those of one document in the order in which they arrive. A long one is made in
    portions, between which others are answered; only a client that asks about its own documents waits for the whole.

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
        self._pauses = anyio.Lock()

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
        """Change a document, in portions; one that is cancelled meanwhile leaves it out of step with its editor."""
        with self._documents.open.begin(
            call.client, params.uri, params.version, map(_edit, params.changes), expected=params.fingerprint
        ) as change:
            for _ in change.portions():
                async with self._pauses:  # however many changes are under way, others wait for one portion
                    await checkpoint()
        self._on_change()
        return ChangeResult(uri=params.uri, version=params.version)

    async def close(self, call: Call, params: CloseParams) -> CloseResult:
        """Forget a document; what is kept of its text stays until the memory is needed."""
        self._documents.open.close(call.client, params.uri)
        return CloseResult(uri=params.uri)

    async def list(self, call: Call, _params: NoParams) -> DocumentListResult:
        """List every client's documents; the asking client's own as they are after the changes that it has sent."""
        for change in self._documents.open.under_way(call.client):
            while not change.is_over:
                await checkpoint()
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
