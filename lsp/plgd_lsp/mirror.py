r"""The texts that the editor has open, as the editor last told them.

pygls keeps a mirror of its own, which splits lines at form feeds and U+2028 as `str.splitlines` does: a change behind
one of them then lands on the wrong line, and the edit made of that text destroys the user's. Lines end at `\n`, `\r\n`
and `\r` only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final
from urllib.parse import unquote

from lsprotocol import types

from plgd.protocol.documents import TextChange, TextPosition, TextRange
from plgd.text.line_index import LineIndex
from plgd.text.lines import split_lines
from plgd.text.positions import Encoding, Position

__all__ = ("Mirror", "MirroredDocument")

# The longest character has so many code units, in UTF-8.
_CHARACTER_UNITS: Final = 4


class MirroredDocument:
    """One open document.

    Args:
        item: as the editor opened it.
        encoding: what positions count.

    Attributes:
        uri: what the editor calls it.
        language_id: the editor's word for what is written in it.
        version: the editor's.
    """

    def __init__(self, item: types.TextDocumentItem, encoding: Encoding) -> None:
        self.uri = item.uri
        self.language_id = str(item.language_id)
        self.version = item.version
        self._encoding = encoding
        self._index = LineIndex(item.text)
        self._lines: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """The whole text."""
        return self._index.text

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, with their endings."""
        if self._lines is None:
            self._lines = split_lines(self._index.text)
        return self._lines

    @property
    def n_lines(self) -> int:
        """Lines in the editor's count: endings and one more."""
        return self._index.n_lines

    def change(self, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]) -> tuple[TextChange, ...]:
        """Take changes over, one after the other, and return them as the daemon wants them.

        Editors are generous with ranges; what is outside of the text is moved to its end.
        """
        self.version = version
        self._lines = None
        return tuple(self._change(change) for change in changes)

    def _change(self, change: types.TextDocumentContentChangeEvent) -> TextChange:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            self._index = LineIndex(change.text)
            return TextChange(text=change.text)
        begin = self._find(change.range.start)
        # What is typed replaces nothing, and finding a place is most of the work.
        stop = begin if change.range.end == change.range.start else self._find(change.range.end)
        (start, first), (end, last) = sorted((begin, stop), key=lambda place: place[0])
        self._index.replace(start, end, change.text)
        return TextChange(text=change.text, range=TextRange(start=first, end=last))

    def _find(self, place: types.Position) -> tuple[int, TextPosition]:
        if place.line >= self._index.n_lines:
            return len(self._index.text), TextPosition(line=self._index.n_lines, character=0)
        # Inside a character means before it.
        for character in range(place.character, max(0, place.character - _CHARACTER_UNITS), -1):
            try:
                offset = self._index.find(Position(place.line, character), self._encoding)
            except ValueError:
                continue
            return offset, TextPosition(line=place.line, character=character)
        start = Position(place.line, 0)
        return self._index.find(start, self._encoding), TextPosition(line=place.line, character=0)


class Mirror:
    """Every open document, by URI.

    Attributes:
        encoding: what positions count; agreed upon when the editor introduces itself.
    """

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        self._documents: dict[str, MirroredDocument] = {}
        self._listeners: list[Callable[[str], None]] = []

    def __iter__(self) -> Iterator[MirroredDocument]:
        return iter(tuple(self._documents.values()))

    def listen(self, listener: Callable[[str], None]) -> None:
        """Call a function with the URI whenever a document was opened, changed or closed."""
        self._listeners.append(listener)

    def get(self, uri: str) -> MirroredDocument | None:
        """Return an open document; URIs that differ in their escapes alone name the same one."""
        found = self._documents.get(uri)
        if found is not None:
            return found
        plain = unquote(uri)
        return next((document for document in self._documents.values() if unquote(document.uri) == plain), None)

    def open(self, item: types.TextDocumentItem) -> None:
        """Hold a document; one that is open under the same URI is replaced."""
        self._documents[item.uri] = MirroredDocument(item, self.encoding)
        self._tell(item.uri)

    def change(
        self, uri: str, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]
    ) -> tuple[TextChange, ...]:
        """Change a document that is open; see `MirroredDocument.change`."""
        made = self._documents[uri].change(version, changes)
        self._tell(uri)
        return made

    def close(self, uri: str) -> None:
        """Forget a document."""
        if self._documents.pop(uri, None) is not None:
            self._tell(uri)

    def _tell(self, uri: str) -> None:
        for listener in self._listeners:
            listener(uri)
