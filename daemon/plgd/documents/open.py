"""Open documents: the texts that editors hold, as they were last heard of. An editor's text wins over the disk."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from plgd.documents.document import MAX_BYTES
from plgd.documents.uris import path_of, real_path
from plgd.errors import DocumentLimit, DocumentNotOpen, NotText, OutOfSync
from plgd.text.fingerprint import fingerprint
from plgd.text.line_index import LineIndex
from plgd.text.positions import Encoding, Position

__all__ = ("Change", "OpenDocument", "OpenDocuments", "Opened", "TextEdit")

# An editor session has tens. Each costs its text.
LIMIT: Final = 1024
# After so long a change lets others have their turn; one edit takes about a tenth of a millisecond.
PORTION_S: Final = 0.005


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


@dataclass(eq=False, slots=True)
class OpenDocument:
    """What is held of one.

    Attributes:
        lines: its text; None when it is out of step with its editor until it is opened again.
        changes: those under way, in the order in which they arrived. None of them is seen before it is made.
    """

    uri: str
    path: Path | None
    name: str
    encoding: Encoding
    version: int
    revision: int
    changed_at: float
    lines: LineIndex | None
    changes: deque[Change] = field(default_factory=deque)

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


class Change:
    """The edits of one message on their way into a document; a context that puts it out of step when they are not made.

    A document that is closed or opened anew meanwhile is left to whoever holds this: the new one is not touched.

    Args:
        documents: has the document.
        document: to be changed; the caller has put this behind the changes that are under way.
        version, edits, expected: as in `OpenDocuments.change`.
    """

    def __init__(
        self,
        documents: OpenDocuments,
        document: OpenDocument,
        *,
        version: int,
        edits: Iterable[TextEdit],
        expected: str | None,
    ) -> None:
        self._documents = documents
        self._document = document
        self._version = version
        self._edits = edits
        self._expected = expected
        self._is_made = False
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._documents.end(self._document, self, is_made=self._is_made)
        self._ended.set()

    @property
    def is_over(self) -> bool:
        """Whether it was made, or given up."""
        return self._ended.is_set()

    def wait(self) -> None:
        """Wait until it is over; not for the thread that makes it."""
        self._ended.wait()

    def portions(self) -> Iterator[None]:
        """Make the change; others may have their turn at each pause. Errors as in `OpenDocuments.change`."""
        document = self._document
        while document.changes[0] is not self:
            yield
        before = document.look()
        if document.lines is None or self._version <= before.version:
            raise OutOfSync.of_version(document.uri, before.version, self._version)
        lines = copy(document.lines)
        pause_at = time.monotonic() + PORTION_S
        for edit in self._edits:
            if time.monotonic() >= pause_at:
                yield
                pause_at = time.monotonic() + PORTION_S
            lines = _apply(document.uri, lines, edit, document.encoding)
        if self._expected is not None and self._expected != fingerprint(lines.text.encode()):
            raise OutOfSync.of_text(document.uri)
        self._documents.put(document, lines, self._version, is_new=lines.text != before.text)
        self._is_made = True


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
        self, client: Hashable, uri: str, version: int, edits: Iterable[TextEdit], *, expected: str | None = None
    ) -> Opened:
        """Change a document: all edits, one after the other, or none. No change of it may be under way.

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
        with self.begin(client, uri, version, edits, expected=expected) as change:
            for _ in change.portions():
                pass
        return self.get(client, uri)

    def begin(
        self, client: Hashable, uri: str, version: int, edits: Iterable[TextEdit], *, expected: str | None = None
    ) -> Change:
        """Begin a change, whose turn comes behind those of the document that are under way; it has to be entered.

        Args:
            client: as in `change`, as are the others.
            uri: as it was opened.
            version: greater than before.
            edits: read while they are made.
            expected: the fingerprint of the text afterwards, if it is to be checked.

        Raises:
            DocumentNotOpen: it is not.
        """
        with self._lock:
            document = self._find(client, uri)
            change = Change(self, document, version=version, edits=edits, expected=expected)
            document.changes.append(change)
            return change

    def put(self, document: OpenDocument, lines: LineIndex, version: int, *, is_new: bool) -> None:
        """Let a document have a text, all at once."""
        with self._lock:
            if is_new:
                document.revision = next(self._revisions)
                document.changed_at = self._clock()
            document.lines, document.version = lines, version
            key = next((key for key in reversed(self._held) if self._held[key] is document), None)
            if key is not None:
                self._held[key] = self._held.pop(key)

    def end(self, document: OpenDocument, change: Change, *, is_made: bool) -> None:
        """Let the next change of a document have its turn; without one that was not made, none fits any more."""
        with self._lock:
            if not is_made:
                document.lines = None
            document.changes.remove(change)

    def under_way(self, client: Hashable) -> tuple[Change, ...]:
        """Return the changes of a client's documents that are not over."""
        with self._lock:
            return tuple(change for key, held in self._held.items() if key[0] == client for change in held.changes)

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

        Waits for the client's own changes of it, so not for the thread that makes them.

        Raises:
            DocumentNotOpen: nobody has opened it.
            OutOfSync: a change of it did not fit.
        """
        self._wait(client, lambda held: held.uri == uri)
        with self._lock:
            own = self._held.get((client, uri))
            if own is None:
                own = next((held for held in reversed(self._held.values()) if held.uri == uri), None)
            if own is None:
                raise DocumentNotOpen.named(uri)
            return own.look()

    def at(self, client: Hashable, path: Path) -> Opened | None:
        """Return the document that an editor holds of a file: the client's own, else the one that was changed last.

        Waits as `get` does.

        Raises:
            OutOfSync: a change of it did not fit.
        """
        real = real_path(path)
        self._wait(client, lambda held: held.path == real)
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

    def _wait(self, client: Hashable, is_wanted: Callable[[OpenDocument], bool]) -> None:
        with self._lock:
            own = [held for (owner, _), held in self._held.items() if owner == client and is_wanted(held)]
            last = [held.changes[-1] for held in own if held.changes]
        for change in last:
            change.wait()

    def _find(self, client: Hashable, uri: str) -> OpenDocument:
        document = self._held.get((client, uri))
        if document is None:
            raise DocumentNotOpen.named(uri)
        return document


def _check_text(uri: str, text: str) -> None:
    if (place := text.find("\0")) >= 0:
        raise NotText.binary(uri, place)
    try:
        n_bytes = len(text.encode())
    except UnicodeEncodeError as error:
        raise NotText.not_utf8(uri, len(text[: error.start].encode())) from error
    if n_bytes > MAX_BYTES:
        raise DocumentLimit.of_bytes(uri, MAX_BYTES)


def _apply(uri: str, lines: LineIndex, edit: TextEdit, encoding: Encoding) -> LineIndex:
    _check_text(uri, edit.text)
    if edit.start is None or edit.end is None:
        return LineIndex(edit.text)
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
