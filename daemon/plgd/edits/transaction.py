"""Replaces the content of several files: of all of them, or of none, also when the process dies in between.

First the journal says what is meant. Then every new text is written beside its file, with the old one kept under a
second name, and all of it goes onto the disk. Then the journal says that it is prepared, and only then are files
renamed. Whatever stops that is followed by the way back; after a crash, `settle` finds the way from what is on disk.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plgd.edits.journal import Journal, Move, Transaction, sync_folder
from plgd.edits.settle import roll_back, tidy_up
from plgd.edits.write import copy_attributes, is_still, os_reason, swap_in
from plgd.errors import PlgdError, WriteFailed
from plgd.text.fingerprint import fingerprint

__all__ = ("Replacement", "Stopped", "replace_files")

# Of a file's name, in the names of what stands beside it.
_NAME_LENGTH: Final = 40
_BESIDE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Replacement:
    """One file.

    Attributes:
        path: the real one; never a symbolic link.
        old: the content that it must have until it is replaced.
        new: the content that it gets; another one.
    """

    path: Path
    old: bytes
    new: bytes


class Stopped(Exception):
    """No file was changed, because of one of them.

    Attributes:
        index: which.
        error: why; `None` when it has another content than expected, or is gone.
    """

    def __init__(self, index: int, error: PlgdError | None = None) -> None:
        super().__init__(f"file {index}: {error or 'it changed'}")
        self.index = index
        self.error = error


def replace_files(replacements: Sequence[Replacement], journal: Journal) -> None:
    """Replace the content of all files or of none; each keeps its mode, owner and extended attributes.

    Args:
        replacements: different files.
        journal: is empty again when this returns or raises, unless the disk fails.

    Raises:
        Stopped: all files have their old contents, or what others have given them meanwhile.
        WriteFailed: the disk failed half way and on the way back; the message says which file it left.
    """
    moves = [_move(each, secrets.token_hex(8)) for each in replacements]
    with _at(0, moves[0].file):
        transaction = journal.begin(moves)
    try:
        _prepare(moves, replacements, transaction)
        _rename(moves)
    except Stopped:
        _go_back(transaction)
        raise
    try:
        tidy_up(transaction)
    except OSError as error:
        _LOG.warning("what is left of a transaction is removed at the next start: %s", error)


def _go_back(transaction: Transaction) -> None:
    try:
        roll_back(transaction)
        tidy_up(transaction)
    except OSError as error:
        raise WriteFailed.not_undone(error.filename or transaction.name, os_reason(error)) from error


@contextmanager
def _at(place: int, path: Path) -> Iterator[None]:
    """Make whatever fails at one file the reason to stop."""
    try:
        yield
    except WriteFailed as error:
        raise Stopped(place, error) from error
    except OSError as error:
        is_gone = isinstance(error, FileNotFoundError) and path.parent.exists()
        raise Stopped(place, None if is_gone else WriteFailed.at(str(path), os_reason(error))) from error


def _prepare(moves: Sequence[Move], replacements: Sequence[Replacement], transaction: Transaction) -> None:
    """Put everything on disk that the renames, and the way back from them, need."""
    for place, (move, each) in enumerate(zip(moves, replacements, strict=True)):
        with _at(place, move.file):
            _write(move.staged_file, each.new, move.file)
            _keep(move, each)
    for place, move in enumerate(moves):
        with _at(place, move.file):
            sync_folder(move.file.parent)
        # Renames that have to be taken back are seen by others; so they begin only if nothing stands in the way.
        if not is_still(move.file, move.old):
            raise Stopped(place)
    with _at(0, moves[0].file):
        transaction.commit()


def _rename(moves: Sequence[Move]) -> None:
    for place, move in enumerate(moves):
        with _at(place, move.file):
            is_swapped = swap_in(move.staged_file, move.file, move.old)
        if not is_swapped:
            raise Stopped(place)


def _move(each: Replacement, token: str) -> Move:
    beside = each.path.with_name(f".{each.path.name[:_NAME_LENGTH]}.{token}.plgd-")
    return Move(
        path=os.fsencode(each.path),
        staged=os.fsencode(beside) + b"new",
        kept=os.fsencode(beside) + b"old",
        old=fingerprint(each.old),
        new=fingerprint(each.new),
    )


def _keep(move: Move, each: Replacement) -> None:
    try:
        os.link(move.file, move.kept_file)
    except FileNotFoundError:
        raise
    except OSError:
        # Not every file system has hard links, and not every file may get one.
        _write(move.kept_file, each.old, move.file)


def _write(path: Path, data: bytes, like: Path) -> None:
    handle = os.open(path, _BESIDE, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        copy_attributes(like, handle)
        os.fsync(handle)
