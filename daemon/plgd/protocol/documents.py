"""Open documents: the texts that editors hold, and what is kept warm of them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from plgd.protocol.base import Message, Reply

__all__ = (
    "ChangeParams",
    "ChangeResult",
    "CloseParams",
    "CloseResult",
    "DocumentListResult",
    "OpenDocumentInfo",
    "OpenParams",
    "OpenResult",
    "TextChange",
    "TextPosition",
    "TextRange",
    "WarmParams",
    "WarmResult",
)

Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Version = Annotated[int, Meta(ge=-(2**53), le=2**53)]


class TextPosition(Message, frozen=True):
    """A place between two characters, counted from 0 as editors count.

    Attributes:
        line: lines before it.
        character: code units of the document's encoding before it in its line.
    """

    line: Count
    character: Count


class TextRange(Message, frozen=True):
    """What lies between two places; `end` is not before `start`."""

    start: TextPosition
    end: TextPosition


class TextChange(Message, frozen=True):
    """One change of a text.

    Attributes:
        text: what is put in.
        range: what it replaces; the whole text when missing.
    """

    text: str
    range: TextRange | None = None


class OpenParams(Message, frozen=True):
    """A document that an editor holds. It is closed when the connection ends.

    Attributes:
        uri: `file:///...`, an absolute path, or any name for a text without a file. Open it again to start anew.
        text: the whole text.
        version: the editor's; each change must bring a greater one.
        encoding: what positions of changes count: code units of UTF-8, UTF-16 or UTF-32.
        name: the file name that the model is told; by default the last part of the URI.
    """

    uri: str
    text: str
    version: Version = 0
    encoding: Literal["utf-8", "utf-16", "utf-32"] = "utf-16"
    name: str | None = None


class OpenResult(Reply, frozen=True):
    """The document as it was taken in.

    Attributes:
        path: the file that it belongs to, symbolic links followed; empty without one.
        fingerprint: SHA-256 of the text in UTF-8.
    """

    uri: str
    path: str
    version: int
    fingerprint: str


class ChangeParams(Message, frozen=True):
    """Changes of an open document: all of them, one after the other, or none.

    Attributes:
        uri: as it was opened, on this connection.
        version: of the text after the changes.
        changes: each is for the text that the one before it left.
        fingerprint: of the text after the changes, if it is to be checked.
    """

    uri: str
    version: Version
    changes: tuple[TextChange, ...]
    fingerprint: str | None = None


class ChangeResult(Reply, frozen=True):
    """The changes are made."""

    uri: str
    version: int


class CloseParams(Message, frozen=True):
    """Which document to close; what is on disk counts from then on."""

    uri: str


class CloseResult(Reply, frozen=True):
    """The document is closed."""

    uri: str


class OpenDocumentInfo(Reply, frozen=True):
    """An open document, or a file that is kept warm.

    Attributes:
        path: the file that it belongs to; empty without one.
        version: the editor's; 0 for a file.
        n_bytes: of the text in UTF-8.
        n_lines: as editors count them; 0 for a file.
        warm_tokens: tokens of its prompt whose KV is kept.
        kv_bytes: memory that they take.
    """

    uri: str
    path: str
    version: int
    fingerprint: str
    n_bytes: int
    n_lines: int
    warm_tokens: int
    kv_bytes: int


class DocumentListResult(Reply, frozen=True):
    """The open documents, changed last first."""

    documents: tuple[OpenDocumentInfo, ...]


class WarmParams(Message, frozen=True):
    """A text to read, tokenize and prefill, so that the next edit of it begins at once.

    Attributes:
        path: absolute path of a file; an editor that holds it goes before the disk.
        model: a model's name; by default the configured one. It is loaded when it is not in memory.
    """

    path: str
    model: str | None = None


class WarmResult(Reply, frozen=True):
    """What is warm now.

    Attributes:
        path: the real file, symbolic links followed.
        head_tokens: tokens that every prompt on this text begins with.
        cached_tokens: those of them that were warm before.
        warm_tokens: those of them that are warm now; 0 when the memory for it does not suffice.
        kv_bytes: memory that they take.
        total_ms: from the request's arrival to the result.
    """

    path: str
    model: str
    head_tokens: int
    cached_tokens: int
    warm_tokens: int
    kv_bytes: int
    total_ms: float
