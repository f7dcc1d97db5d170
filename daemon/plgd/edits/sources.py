"""Reads the texts that a request names as sources of drafts, once and before the model is needed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Final

from plgd.documents.document import Document
from plgd.documents.store import DocumentStore
from plgd.edits.view import view
from plgd.errors import FileUnreadable, InvalidParams
from plgd.protocol.drafting import DraftSource

__all__ = ("MAX_SOURCES", "MAX_SOURCE_BYTES", "read_sources")

MAX_SOURCES: Final = 16
# Of all sources of a request: a request that waits keeps them in memory, and no context holds so much.
MAX_SOURCE_BYTES: Final = 16 * 1024 * 1024


def read_sources(sources: Sequence[DraftSource], documents: DocumentStore, client: Hashable = None) -> tuple[str, ...]:
    """Read sources as the model would see them. One without text is left out: there is nothing to draft from it.

    Args:
        sources: what the request names.
        documents: those that are open; what an editor holds of a file goes before the disk.
        client: who asks; its own open documents go before those of others.

    Raises:
        InvalidParams: too many, not exactly one of `path` and `text`, or a relative path.
        FileMissing, NotAFile, FileUnreadable, NotText, OutOfSync: a source cannot be had, or all are too large.
    """
    if len(sources) > MAX_SOURCES:
        raise InvalidParams(f"`sources` names {len(sources)} texts; {MAX_SOURCES} are the most.")
    texts: list[str] = []
    n_bytes = 0
    for place, source in enumerate(sources):
        document = _read(source, f"sources[{place}]", documents, client)
        n_bytes += len(document.data)
        if n_bytes > MAX_SOURCE_BYTES:
            reason = f"with it, the sources are larger than {MAX_SOURCE_BYTES // 2**20} MB"
            raise FileUnreadable.at(document.shown(), reason)
        if not document.text.isspace() and document.lines:
            texts.append(view(document.lines))
    return tuple(texts)


def _read(source: DraftSource, field: str, documents: DocumentStore, client: Hashable) -> Document:
    if source.path is not None and source.text is None:
        path = Path(source.path)
        if not path.is_absolute():
            raise InvalidParams(
                f"`{field}.path` must be absolute, not {source.path!r}: the daemon has another working folder."
            )
        opened = documents.open.at(client, path)
        return Document.read(path) if opened is None else Document.of_text(opened.text, opened.name, opened.path)
    if source.text is not None and source.path is None:
        return Document.of_text(source.text, field)
    raise InvalidParams(f"Give exactly one of `path` and `text` in `{field}`.")
