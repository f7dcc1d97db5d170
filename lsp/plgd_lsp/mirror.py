r"""The texts that the editor has open, as the editor last told them.

pygls keeps a mirror of its own, which splits lines at form feeds and U+2028 as `str.splitlines` does: a change behind
one of them then lands on the wrong line, and the edit made of that text destroys the user's. Lines end at `\n`, `\r\n`
and `\r` only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple
from urllib.parse import unquote

from lsprotocol import types

from plgd.protocol.documents import TextChange, TextPosition, TextRange
from plgd.text.lines import body, ending, split_lines
from plgd.text.positions import Encoding, Position, PositionCodec

__all__ = ("Mirror", "MirroredDocument")

# The longest character has so many code units, in UTF-8.
_CHARACTER_UNITS: Final = 4


class MirroredDocument:
    """One open document, held as its lines: what is typed costs the lines around it, however many there are.

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
        # As editors count: behind the last ending there is a line, empty or not.
        self._all = _counted(item.text)
        self._text: str | None = item.text
        self._lines: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """The whole text."""
        if self._text is None:
            self._text = "".join(self._all)
        return self._text

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, with their endings; none behind the last ending."""
        if self._lines is None:
            self._lines = tuple(self._all if self._all[-1] else self._all[:-1])
        return self._lines

    @property
    def n_lines(self) -> int:
        """Lines in the editor's count: endings and one more."""
        return len(self._all)

    def change(self, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]) -> tuple[TextChange, ...]:
        """Take changes over, one after the other, and return them as the daemon wants them.

        Editors are generous with ranges; what is outside of the text is moved to its end.
        """
        self.version = version
        self._text = self._lines = None
        return tuple(self._change(change) for change in changes)

    def _change(self, change: types.TextDocumentContentChangeEvent) -> TextChange:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            self._all = _counted(change.text)
            return TextChange(text=change.text)
        first, last = sorted((self._find(change.range.start), self._find(change.range.end)))
        new = self._all[first.line][: first.offset] + change.text + self._all[last.line][last.offset :]
        # A line feed may come to stand behind the carriage return of the line before.
        begin = max(0, first.line - 1)
        counted = _counted("".join(self._all[begin : first.line]) + new)
        if last.line + 1 < len(self._all):
            del counted[-1]  # what is replaced ended with an ending, and the next line begins behind it
        self._all[begin : last.line + 1] = counted
        return TextChange(text=change.text, range=TextRange(start=first.told(), end=last.told()))

    def _find(self, place: types.Position) -> _Place:
        line = min(place.line, len(self._all) - 1)
        text = body(self._all[line])
        character = place.character if line == place.line else _CHARACTER_UNITS * len(text)
        # A character has a unit or more, so that what is behind so many of them does not matter.
        codec = PositionCodec(text[: character + 1], self._encoding)
        # Past the line's end means its end, and inside a character before it.
        offset = codec.to_offset(Position(0, character))
        return _Place(line, offset, codec.to_position(offset).character)


class _Place(NamedTuple):
    """A place in a document: its line, the code points before it there, and the same in the editor's units."""

    line: int
    offset: int
    character: int

    def told(self) -> TextPosition:
        return TextPosition(line=self.line, character=self.character)


def _counted(text: str) -> list[str]:
    lines = list(split_lines(text))
    if not lines or ending(lines[-1]):
        lines.append("")
    return lines


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
