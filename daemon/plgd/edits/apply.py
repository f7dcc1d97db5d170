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

__all__ = ("TRIES", "LinesConflict", "Written", "apply_edit", "plan_edit")

# Each try reads the file anew; a file that changes so often within milliseconds is being written by a program.
TRIES: Final = 5


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

    @property
    def path(self) -> Path:
        """The real file."""
        return _path(self.base)

    @property
    def data(self) -> bytes:
        """The new text, exactly."""
        return (self.base.bom + "".join(self.lines)).encode()

    def noted(self, documents: DocumentStore) -> Written:
        """Count the new text's version, now that it is on disk."""
        data = self.data
        return replace(self, version=documents.note(str(self.path), fingerprint(data), len(data)))


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
    for _ in range(TRIES):
        planned = plan_edit(document, lines, documents)
        if planned.lines == planned.base.lines or dry_run:
            return planned
        if before_write is not None:
            before_write(planned)
        if replace_file(planned.path, planned.data, planned.base.fingerprint):
            return planned.noted(documents)
    raise Conflict.on(document.shown(), "it keeps changing")


def plan_edit(document: Document, lines: Sequence[str], documents: DocumentStore) -> Written:
    """Return what writing an edit would make of the file as it is in this moment; nothing is written.

    Arguments and errors are those of `apply_edit`.
    """
    hunks = diff_lines(document.lines, lines)
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
    return Written(current, apply_hunks(current.lines, moved), current.version, warnings)


def _read_again(document: Document, documents: DocumentStore) -> Document:
    try:
        current = documents.read(document.asked or _path(document), document.name)
    except FileMissing as error:
        raise Conflict.on(document.shown(), "it was deleted") from error
    except InputError as error:
        why = error.message.partition(". ")[0].rstrip(".")
        raise Conflict.on(document.shown(), f"it can no longer be edited: {why}") from error
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
