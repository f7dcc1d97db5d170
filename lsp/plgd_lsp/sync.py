"""Keeps the daemon's texts in step with the editor's, so that documents are warm when an edit comes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import anyio

from plgd.client import Client
from plgd.errors import ConnectionLost, DocumentNotOpen, NotText, OutOfSync, PlgdError
from plgd.protocol.documents import ChangeParams, CloseParams, OpenParams, TextChange
from plgd.protocol.methods import DOCUMENT_CHANGE, DOCUMENT_CLOSE, DOCUMENT_OPEN
from plgd_lsp.mirror import Mirror, MirroredDocument
from plgd_lsp.names import file_name

__all__ = ("Sync",)

# A daemon that refuses a text again and again will not take it.
_TRIES: Final = 3


@dataclass(slots=True)
class _Held:
    """What the daemon has of a document.

    Attributes:
        is_open: the daemon has it.
        version: plgd's own count; editors may repeat theirs.
        pending: changes that the daemon has not been told.
        is_dirty: there is something to tell.
        is_refused: the daemon did not take it; it is asked again when somebody wants to edit it.
    """

    is_open: bool = False
    version: int = 0
    pending: list[TextChange] = field(default_factory=list)
    is_dirty: bool = True
    is_refused: bool = False


class Sync:
    """Tells the daemon what the editor has open.

    Args:
        mirror: the editor's texts.
    """

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._held: dict[str, _Held] = {}
        self._dirty = anyio.Event()
        self._sending = anyio.Lock()

    @property
    def n_open(self) -> int:
        """Documents that the daemon has."""
        return sum(held.is_open for held in self._held.values())

    def note_open(self, uri: str) -> None:
        """Note that the editor has opened a document, or opened it anew."""
        held = self._held.setdefault(uri, _Held())
        held.is_open = held.is_refused = False
        self._mark(held)

    def note_change(self, uri: str, changes: tuple[TextChange, ...]) -> None:
        """Note changes that the mirror has taken over."""
        held = self._held[uri]
        held.pending += changes
        self._mark(held)

    def note_close(self, uri: str) -> None:
        """Note that the editor has closed a document."""
        if (held := self._held.get(uri)) is not None:
            self._mark(held)

    def forget_daemon(self) -> None:
        """Begin anew: this daemon, or this connection, has nothing yet."""
        for uri, held in tuple(self._held.items()):
            if self._mirror.get(uri) is None:
                del self._held[uri]
                continue
            held.is_open = held.is_refused = False
            self._mark(held)

    async def run(self, client: Client) -> None:
        """Tell the daemon everything, until the connection ends."""
        while True:
            await self._dirty.wait()
            self._dirty = anyio.Event()
            for uri in [uri for uri, held in self._held.items() if held.is_dirty and not held.is_refused]:
                try:
                    await self.push(client, uri)
                except ConnectionLost:
                    return
                except PlgdError:
                    continue  # told when somebody wants to edit it

    async def push(self, client: Client, uri: str) -> None:
        """Bring one document up to date; when this returns, the daemon had the text that the mirror has now.

        Raises:
            PlgdError: the daemon does not take the text.
            ConnectionLost: the daemon went away.
        """
        async with self._sending:
            tries = 0
            while (held := self._held.get(uri)) is not None and (held.is_dirty or not held.is_open):
                held.is_dirty = False
                document = self._mirror.get(uri)
                if document is None:
                    await self._close(client, uri, held)
                    return
                try:
                    await self._tell(client, document, held)
                except (OutOfSync, DocumentNotOpen):
                    held.is_open = False
                    tries += 1
                    if tries == _TRIES:
                        raise
                except BaseException as error:
                    # Refused, or cancelled before it was known: whole again the next time.
                    held.is_open = False
                    held.is_refused = isinstance(error, PlgdError) and not isinstance(error, ConnectionLost)
                    self._mark(held)
                    raise

    async def _tell(self, client: Client, document: MirroredDocument, held: _Held) -> None:
        held.version += 1
        changes, version = tuple(held.pending), held.version
        held.pending.clear()
        if not held.is_open:
            opening = OpenParams(
                uri=document.uri,
                text=_sendable(document),
                version=version,
                encoding=self._mirror.encoding,
                name=file_name(document.uri, document.language_id),
            )
            # What is noted from now on is a change of this text.
            held.is_open, held.is_refused = True, False
            await client.call(DOCUMENT_OPEN, opening)
        elif changes:
            await client.call(DOCUMENT_CHANGE, ChangeParams(uri=document.uri, version=version, changes=changes))

    async def _close(self, client: Client, uri: str, held: _Held) -> None:
        del self._held[uri]
        if held.is_open:
            await client.call(DOCUMENT_CLOSE, CloseParams(uri=uri))

    def _mark(self, held: _Held) -> None:
        held.is_dirty = True
        self._dirty.set()


def _sendable(document: MirroredDocument) -> str:
    try:
        document.text.encode()
    except UnicodeEncodeError as error:
        raise NotText.not_utf8(document.uri, len(document.text[: error.start].encode())) from error
    return document.text
