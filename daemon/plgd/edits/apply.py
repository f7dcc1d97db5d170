"""Brings an edit to the file on disk, whatever happened to the file meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from plgd.documents.document import Document
from plgd.documents.store import DocumentStore
from plgd.edits.write import check_writable, replace_file
from plgd.errors import Conflict, FileMissing, InputError, ReadOnlyTarget
from plgd.text.clash import ClashingLines, clashing_lines
from plgd.text.diff import apply_hunks, diff_lines
from plgd.text.fingerprint import fingerprint
from plgd.text.rebase import Clash, rebase_hunks

__all__ = ("LinesConflict", "Written", "apply_edit")

# Each try reads the file anew; a file that changes so often within milliseconds is being written by a program.
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Written:
    """What is on disk now, or would be.

    Attributes:
        base: the text that was replaced; another one than was edited if that had changed.
        lines: the new lines.
        version: of the new text.
        warnings: what happened on the way.
    """

    base: Document
    lines: tuple[str, ...]
    version: int
    warnings: tuple[str, ...]


class LinesConflict(Conflict):
    """A conflict in certain lines.

    Attributes:
        lines: what the text that was edited, the edit, and the file have there.
    """

    def __init__(self, message: str, lines: ClashingLines) -> None:
        super().__init__(message)
        self.lines = lines


def apply_edit(
    document: Document,
    lines: Sequence[str],
    documents: DocumentStore,
    *,
    dry_run: bool = False,
    before_write: Callable[[Written], None] | None = None,
) -> Written:
    """Write an edit, compare-and-swap on the fingerprint.

    When the file changed since it was read, the edit is moved to the new text; lines that both changed stop it.

    Args:
        document: the text that was edited, read from a file.
        lines: the new lines, byte order mark apart.
        documents: counts the version of what the file holds now.
        dry_run: do everything but the write.
        before_write: told what is about to be written; the version is not counted yet. If it raises, nothing is.

    Raises:
        LinesConflict: the file changed in the lines of the edit; it was left as it is.
        Conflict: the file is gone, empty or read-only now; the same.
        WriteFailed: the disk said no; the old file is whole.
    """
    hunks = diff_lines(document.lines, lines)
    for _ in range(_TRIES):
        current = _read_again(document, documents)
        if current.fingerprint == document.fingerprint:
            moved, warnings = hunks, _links_warning(current)
        else:
            rebased = rebase_hunks(hunks, document.lines, current.lines)
            if isinstance(rebased, Clash):
                message = Conflict.on(document.shown(), _clash_words(rebased)).message
                raise LinesConflict(message, clashing_lines(rebased, document.lines, lines, current.lines))
            moved = rebased
            warnings = (
                f"{document.shown()} changed while the model worked; the edit was moved to the new text.",
                *_links_warning(current),
            )
        new_lines = apply_hunks(current.lines, moved)
        if not moved:
            return Written(current, current.lines, current.version, warnings)
        written = Written(current, new_lines, current.version, warnings)
        if dry_run:
            return written
        if before_write is not None:
            before_write(written)
        data = (current.bom + "".join(new_lines)).encode()
        if replace_file(_path(current), data, current.fingerprint):
            version = documents.note(str(current.path), fingerprint(data), len(data))
            return replace(written, version=version)
    raise Conflict.on(document.shown(), "it keeps changing")


def _read_again(document: Document, documents: DocumentStore) -> Document:
    try:
        current = documents.read(document.asked or _path(document), document.name)
    except FileMissing as error:
        raise Conflict.on(document.shown(), "it was deleted") from error
    except InputError as error:
        raise Conflict.on(document.shown(), f"it can no longer be edited: {error.message.rstrip('.')}") from error
    if document.lines and not current.lines:
        raise Conflict.on(document.shown(), "it is empty now")
    if current.path != document.path:
        raise Conflict.on(document.shown(), "it leads to another file now")
    try:
        check_writable(_path(current))
    except ReadOnlyTarget as error:
        raise Conflict.on(document.shown(), "it was made read-only") from error
    return current


def _path(document: Document) -> Path:
    if document.path is None:
        raise ValueError("a text that was not read from a file cannot be written to one")
    return document.path


def _clash_words(clash: Clash) -> str:
    if clash.first > clash.last:
        return f"lines were inserted after line {clash.last}" if clash.last else "lines were inserted at the top"
    if clash.first == clash.last:
        return f"also in line {clash.first}"
    return f"also in lines {clash.first} to {clash.last}"


def _links_warning(current: Document) -> tuple[str, ...]:
    if current.n_links == 1:
        return ()
    return (f"{current.shown()} has {current.n_links} names on disk (hard links); the others keep the old text.",)
