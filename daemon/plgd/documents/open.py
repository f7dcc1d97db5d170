"""Open documents: the texts that editors hold, as they were last heard of. An editor's text wins over the disk."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from plgd.documents.document import MAX_BYTES
from plgd.errors import DocumentLimit, DocumentNotOpen, InvalidParams, NotText, OutOfSync
from plgd.text.fingerprint import fingerprint
from plgd.text.line_index import LineIndex
from plgd.text.positions import Encoding, Position

__all__ = ("OpenDocument", "OpenDocuments", "Opened", "TextEdit", "path_of")

# An editor session has tens. Each costs its text.
LIMIT: Final = 1024


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One change of a text.

    Attributes:
        text: what is put in.
        start: where; None for the whole text.
        end: up to where what was there goes.
    """

    text: str
    start: Position | None = None
    end: Position | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """An open document as it is at one moment.

    Attributes:
        uri: what its editor calls it.
        path: the file that it belongs to, symbolic links followed, whether or not it is on disk; None without one.
        name: what messages and the model call it.
        text: the whole text.
        version: the editor's.
        revision: grows with every change of any document, so that a text is told from the one before.
        n_lines: as editors count them.
        changed_at: when, in seconds of the owner's clock.
    """

    uri: str
    path: Path | None
    name: str
    text: str
    version: int
    revision: int
    n_lines: int
    changed_at: float

    @property
    def key(self) -> str:
        """What its state is kept under, and tells it from other documents, open or not: texts of one name share it."""
        return str(self.path or self.name)


@dataclass(slots=True)
class OpenDocument:
    """What is held of one; None for `lines` when it is out of step with its editor until it is opened again."""

    uri: str
    path: Path | None
    name: str
    encoding: Encoding
    version: int
    revision: int
    changed_at: float
    lines: LineIndex | None

    def look(self) -> Opened:
        """Take down how it is now.

        Raises:
            OutOfSync: a change did not fit.
        """
        if self.lines is None:
            raise OutOfSync.before(self.uri)
        return Opened(
            uri=self.uri,
            path=self.path,
            name=self.name,
            text=self.lines.text,
            version=self.version,
            revision=self.revision,
            n_lines=self.lines.n_lines,
            changed_at=self.changed_at,
        )


class OpenDocuments:
    """The open documents of all clients, by client and URI. May be used from several threads.

    Args:
        limit: documents that may be open at once.
        clock: seconds from any start.
    """

    def __init__(self, limit: int = LIMIT, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._held: dict[tuple[Hashable, str], OpenDocument] = {}
        self._revisions = itertools.count(1)
        self._lock = threading.Lock()

    def open(
        self, client: Hashable, uri: str, text: str, version: int, *, encoding: Encoding = "utf-16", name: str = ""
    ) -> Opened:
        """Take a document in; one that is open under the same URI is replaced.

        Args:
            client: whose it is.
            uri: `file:///...`, an absolute path, or any name for a text without a file.
            text: the whole text.
            version: the editor's.
            encoding: what the positions of its changes count.
            name: what to call it; by default the last part of the path or URI.

        Raises:
            NotText: NUL characters, or half a surrogate pair.
            DocumentLimit: too many documents, or too long a text.
        """
        path = path_of(uri)
        _check_text(uri, text)
        with self._lock:
            if (client, uri) not in self._held and len(self._held) >= self._limit:
                raise DocumentLimit.of_number(self._limit)
            self._held.pop((client, uri), None)
            document = OpenDocument(
                uri=uri,
                path=path,
                name=name or (path.name if path is not None else uri.rpartition("/")[2] or uri),
                encoding=encoding,
                version=version,
                revision=next(self._revisions),
                changed_at=self._clock(),
                lines=LineIndex(text),
            )
            self._held[client, uri] = document
            return document.look()

    def change(
        self, client: Hashable, uri: str, version: int, edits: Sequence[TextEdit], *, expected: str | None = None
    ) -> Opened:
        """Change a document: all edits, one after the other, or none.

        Args:
            client: whose it is.
            uri: as it was opened.
            version: greater than before.
            edits: each for the text that the one before it left.
            expected: the fingerprint of the text afterwards, if it is to be checked.

        Raises:
            DocumentNotOpen: it is not.
            OutOfSync: the change does not fit; the document cannot be used until it is opened again.
            NotText, DocumentLimit: as in `open`; the text before it stays, and is out of step.
        """
        with self._lock:
            document = self._find(client, uri)
            before = document.look()
            lines = document.lines
            document.lines = None  # until everything fitted
            if lines is None or version <= before.version:
                raise OutOfSync.of_version(uri, before.version, version)
            lines = _apply(uri, lines, edits, document.encoding)
            if expected is not None and expected != fingerprint(lines.text.encode()):
                raise OutOfSync.of_text(uri)
            if lines.text != before.text:
                document.revision = next(self._revisions)
                document.changed_at = self._clock()
            document.lines, document.version = lines, version
            self._held[client, uri] = self._held.pop((client, uri))
            return document.look()

    def close(self, client: Hashable, uri: str) -> None:
        """Forget a document; the disk holds its text from now on.

        Raises:
            DocumentNotOpen: it is not open.
        """
        with self._lock:
            self._find(client, uri)
            del self._held[client, uri]

    def leave(self, client: Hashable) -> None:
        """Forget a client's documents."""
        with self._lock:
            for key in [key for key in self._held if key[0] == client]:
                del self._held[key]

    def get(self, client: Hashable, uri: str) -> Opened:
        """Return a document: the client's own if it has one, else the one that was changed last.

        Raises:
            DocumentNotOpen: nobody has opened it.
            OutOfSync: a change of it did not fit.
        """
        with self._lock:
            own = self._held.get((client, uri))
            if own is None:
                own = next((held for held in reversed(self._held.values()) if held.uri == uri), None)
            if own is None:
                raise DocumentNotOpen.named(uri)
            return own.look()

    def at(self, client: Hashable, path: Path) -> Opened | None:
        """Return the document that an editor holds of a file: the client's own, else the one that was changed last.

        Raises:
            OutOfSync: a change of it did not fit.
        """
        real = _real(path)
        with self._lock:
            found = [(key, held) for key, held in self._held.items() if held.path == real]
            own = next((held for (owner, _), held in found if owner == client), None)
            return own.look() if own is not None else found[-1][1].look() if found else None

    def keys(self) -> frozenset[str]:
        """Return the keys (`Opened.key`) of the documents that are in step with their editors."""
        with self._lock:
            held = [each for each in self._held.values() if each.lines is not None]
        return frozenset(str(each.path or each.name) for each in held)

    def all(self) -> tuple[Opened, ...]:
        """Return the documents that are in step with their editors, changed last first."""
        with self._lock:
            return tuple(held.look() for held in reversed(self._held.values()) if held.lines is not None)

    def _find(self, client: Hashable, uri: str) -> OpenDocument:
        document = self._held.get((client, uri))
        if document is None:
            raise DocumentNotOpen.named(uri)
        return document


def path_of(uri: str) -> Path | None:
    """Return the real path that a `file:` URI or an absolute path names; None for any other name.

    Raises:
        InvalidParams: a file on another machine, or a path with a NUL.
    """
    if uri.startswith("/"):
        path = uri
    else:
        try:
            parts = urlsplit(uri) if uri[:5].lower() == "file:" else None
        except ValueError as error:
            raise InvalidParams(f"{uri!r} is no file's URI ({error}).") from error
        if parts is None:
            return None
        if parts.netloc not in {"", "localhost"}:
            raise InvalidParams(f"{uri} is on another machine ({parts.netloc}).")
        path = unquote(parts.path)
    if "\0" in path or not path.startswith("/"):
        raise InvalidParams(f"{uri!r} names no file: it takes an absolute path.")
    return _real(Path(path))


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path  # links in a circle, a NUL, half a character: whoever reads it is told


def _check_text(uri: str, text: str) -> None:
    if (place := text.find("\0")) >= 0:
        raise NotText.binary(uri, place)
    try:
        n_bytes = len(text.encode())
    except UnicodeEncodeError as error:
        raise NotText.not_utf8(uri, len(text[: error.start].encode())) from error
    if n_bytes > MAX_BYTES:
        raise DocumentLimit.of_bytes(uri, MAX_BYTES)


def _apply(uri: str, lines: LineIndex, edits: Sequence[TextEdit], encoding: Encoding) -> LineIndex:
    for edit in edits:
        _check_text(uri, edit.text)
        if edit.start is None or edit.end is None:
            lines = LineIndex(edit.text)
            continue
        try:
            start = lines.find(edit.start, encoding)
            # What is typed replaces nothing, and finding a place is most of the work.
            end = start if edit.end == edit.start else lines.find(edit.end, encoding)
        except ValueError as error:
            raise OutOfSync.of_range(uri, str(error)) from error
        if start > end:
            raise OutOfSync.of_range(uri, "the range ends before it begins")
        if lines.n_characters + len(edit.text) > MAX_BYTES:
            raise DocumentLimit.of_bytes(uri, MAX_BYTES)
        lines.replace(start, end, edit.text)
    return lines
