"""The documents that the daemon has seen, with a version for each new content."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from plgd.documents.document import Document
from plgd.documents.open import OpenDocuments, Opened
from plgd.documents.watched import WatchedFiles

__all__ = ("DocumentStore", "Seen")

_LIMIT: Final = 256


@dataclass(frozen=True, slots=True)
class Seen:
    """What is remembered of a document.

    Attributes:
        name: the real path, or the buffer's name.
        fingerprint: of the text seen last.
        version: counts the texts seen under this name, from 1.
        n_bytes: of the text seen last.
    """

    name: str
    fingerprint: str
    version: int
    n_bytes: int


class DocumentStore:
    """Counts versions by content: the same text again is the same version, whatever its time of change says.

    Bounded: of more than `limit` names, those seen longest ago are forgotten and would count from 1 again. May be used
    from several threads.

    Attributes:
        open: the texts that editors hold.
        watched: files that were read from the disk and may be edited again.
    """

    def __init__(self, limit: int = _LIMIT) -> None:
        self.open = OpenDocuments()
        self.watched = WatchedFiles()
        self._limit = limit
        self._seen: OrderedDict[str, Seen] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, path: Path, name: str = "") -> Document:
        """Read a file from the disk; arguments and errors as `Document.read`."""
        return self._versioned(Document.read(path, name))

    def of_text(self, text: str, name: str) -> Document:
        """Take the text of a buffer; arguments and errors as `Document.of_text`."""
        return self._versioned(Document.of_text(text, name))

    def of_open(self, opened: Opened, name: str = "") -> Document:
        """Take the text of an open document; errors as `Document.of_text`."""
        return self._versioned(Document.of_text(opened.text, name or opened.name, opened.path))

    def note(self, name: str, fingerprint: str, n_bytes: int) -> int:
        """Remember a text under its real path or buffer name and return its version."""
        with self._lock:
            before = self._seen.pop(name, None)
            version = before.version if before else 0
            if before is None or before.fingerprint != fingerprint:
                version += 1
            self._seen[name] = Seen(name, fingerprint, version, n_bytes)
            if len(self._seen) > self._limit:
                self._seen.popitem(last=False)
            return version

    def seen(self) -> tuple[Seen, ...]:
        """Return what is remembered, seen longest ago first."""
        with self._lock:
            return tuple(self._seen.values())

    def _versioned(self, document: Document) -> Document:
        name = str(document.path or document.name)
        return replace(document, version=self.note(name, document.fingerprint, len(document.data)))
