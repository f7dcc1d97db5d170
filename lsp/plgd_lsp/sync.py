"""Keeps the daemon's texts in step with the editor's, so that documents are warm when an edit comes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import anyio
import msgspec

from plgd.client import Client
from plgd.errors import ConnectionLost, DocumentLimit, DocumentNotOpen, NotText, OutOfSync, PlgdError
from plgd.protocol.documents import ChangeParams, CloseParams, OpenParams, TextChange
from plgd.protocol.methods import DOCUMENT_CHANGE, DOCUMENT_CLOSE, DOCUMENT_OPEN
from plgd_lsp.mirror import Mirror, MirroredDocument
from plgd_lsp.names import file_name

__all__ = ("Sync",)

# A daemon that refuses a text again and again will not take it.
_TRIES: Final = 3
# What a message has beside the text.
_ENVELOPE_BYTES: Final = 16 * 1024
# In JSON, a character has so many bytes at most, as in `\u0000`.
_CHARACTER_BYTES: Final = 6


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
        frame_limit: bytes of one message; with a longer one, the daemon ends the connection.
    """

    def __init__(self, mirror: Mirror, *, frame_limit: int) -> None:
        self._mirror = mirror
        self._frame_limit = frame_limit
        self._held: dict[str, _Held] = {}
        self._dirty = anyio.Event()
        self._sending = anyio.Lock()

    @property
    def n_pending(self) -> int:
        """Changes that are kept until the daemon is told."""
        return sum(len(held.pending) for held in self._held.values())

    def note_open(self, uri: str) -> None:
        """Note that the editor has opened a document, or opened it anew."""
        held = self._held.setdefault(uri, _Held())
        held.is_open = held.is_refused = False
        self._mark(held)

    def note_change(self, uri: str, changes: tuple[TextChange, ...]) -> None:
        """Note changes that the mirror has taken over."""
        held = self._held[uri]
        if held.is_open:
            held.pending += changes  # else it gets the whole text, whatever is typed until then
        self._mark(held)

    def note_close(self, uri: str) -> None:
        """Note that the editor has closed a document."""
        if (held := self._held.get(uri)) is not None:
            self._mark(held)

    def forget_daemon(self) -> None:
        """Begin anew: the connection is gone, and the next one has nothing yet."""
        for uri, held in tuple(self._held.items()):
            if self._mirror.get(uri) is None:
                del self._held[uri]
                continue
            held.is_open = held.is_refused = False
            held.pending.clear()
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
                    held.is_refused = isinstance(error, PlgdError) and not isinstance(error, ConnectionLost)
                    self._mark(held)
                    if held.is_refused:
                        # What the daemon may still have of it is out of date, and would win over the disk.
                        await self._forget(client, uri, held)
                    held.is_open = False
                    raise

    async def _tell(self, client: Client, document: MirroredDocument, held: _Held) -> None:
        held.version += 1
        changes, version = tuple(held.pending), held.version
        held.pending.clear()
        # A change may bring half a character and the next one its other half: then only the whole is a text.
        if not held.is_open or any(_half_character(change.text) is not None for change in changes):
            self._check(document.uri, [document.text])
            opening = OpenParams(
                uri=document.uri,
                text=document.text,
                version=version,
                encoding=self._mirror.encoding,
                name=file_name(document.uri, document.language_id),
            )
            # What is noted from now on is a change of this text.
            held.is_open, held.is_refused = True, False
            await client.call(DOCUMENT_OPEN, opening)
        elif changes:
            self._check(document.uri, [change.text for change in changes])
            await client.call(DOCUMENT_CHANGE, ChangeParams(uri=document.uri, version=version, changes=changes))

    def _check(self, uri: str, texts: Sequence[str]) -> None:
        """Refuse what cannot be sent, and what the daemon would end the connection for, other documents with it."""
        for text in texts:
            if (place := _half_character(text)) is not None:
                raise NotText.not_utf8(uri, place)
        room = self._frame_limit - _ENVELOPE_BYTES
        if _CHARACTER_BYTES * sum(map(len, texts)) > room and sum(len(msgspec.json.encode(t)) for t in texts) > room:
            raise DocumentLimit.of_bytes(uri, self._frame_limit)

    async def _close(self, client: Client, uri: str, held: _Held) -> None:
        del self._held[uri]
        await self._forget(client, uri, held)

    async def _forget(self, client: Client, uri: str, held: _Held) -> None:
        if not held.is_open:
            return
        held.is_open = False
        with suppress(DocumentNotOpen):  # it did not take it in the first place
            await client.call(DOCUMENT_CLOSE, CloseParams(uri=uri))

    def _mark(self, held: _Held) -> None:
        held.is_dirty = True
        self._dirty.set()


def _half_character(text: str) -> int | None:
    """Return the bytes before the first half of a surrogate pair, which UTF-8 cannot hold; None without one."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return len(text[: error.start].encode())
    return None
