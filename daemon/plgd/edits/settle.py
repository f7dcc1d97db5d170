"""Brings a transaction of several files to its end: every file has its new text, or every file its old one.

After a crash, what is on disk decides. When each file has its new text already, or waits for it with the old text in
place, the renames are finished. When one stands in the way, those that were renamed get their old text back. A file
whose text is neither the old nor the new one belongs to somebody else by now and is never touched.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from plgd.documents.document import read_bytes
from plgd.edits.journal import Journal, Move, Transaction, sync_folder
from plgd.edits.write import swap_in
from plgd.errors import InputError
from plgd.text.fingerprint import fingerprint

__all__ = ("recover", "roll_back", "tidy_up")

_LOG: Final = logging.getLogger(__name__)


class _State(Enum):
    """Where a file of a transaction is.

    `THROUGH`: it has its new text, or got it and was changed since. `PENDING`: it has its old text and the new one
    lies beside it. `BLOCKED`: it cannot get its new text.
    """

    THROUGH = "through"
    PENDING = "pending"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class _Look:
    """A file of a transaction as it is now; paths as in `Move`, `found` is the fingerprint of its text, if any."""

    move: Move
    found: str | None
    has_staged: bool

    @property
    def state(self) -> _State:
        """Where it is. What is neither text, with nothing left to be renamed, was changed after its rename."""
        if self.found == self.move.new or (self.found != self.move.old and not self.has_staged):
            return _State.THROUGH
        return _State.PENDING if self.found == self.move.old and self.has_staged else _State.BLOCKED


def recover(journal: Journal) -> None:
    """Finish or undo what a daemon that died has left; one that cannot be finished now is logged and left in place."""
    for transaction in journal.left_behind():
        try:
            _recover(transaction)
        except OSError as error:
            _LOG.error("transaction %s waits for the next start: %s", transaction.name, error)


def _recover(transaction: Transaction) -> None:
    looks = [_look(move) for move in transaction.moves]
    if transaction.committed and all(look.state is not _State.BLOCKED for look in looks):
        for look in looks:
            if look.state is _State.PENDING and not swap_in(look.move.staged_file, look.move.file, look.move.old):
                _LOG.error("%r was changed in this very moment; it keeps that text", str(look.move.file))
        _LOG.warning("an edit of %d files that was interrupted has been finished", len(looks))
    else:
        roll_back(transaction)
        if transaction.committed:
            _LOG.warning("an edit of %d files that was interrupted has been undone", len(looks))
    for look in looks:
        if look.found not in {look.move.old, look.move.new}:
            _LOG.warning("%r has another text by now; it was left as it is", str(look.move.file))
    tidy_up(transaction)


def roll_back(transaction: Transaction) -> None:
    """Give every file that has its new text the old one back, the last first.

    Raises:
        OSError: the disk said no.
    """
    for move in reversed(transaction.moves):
        look = _look(move)
        if look.found != move.new:
            continue
        if _found(move.kept_file) != move.old or not swap_in(move.kept_file, move.file, move.new):
            _LOG.error("%r keeps its new text: the old one is lost", str(move.file))


def tidy_up(transaction: Transaction) -> None:
    """Remove what a transaction that is over left beside the files, then the transaction.

    Raises:
        OSError: the disk said no.
    """
    _sync(transaction.moves)
    for move in transaction.moves:
        move.staged_file.unlink(missing_ok=True)
        move.kept_file.unlink(missing_ok=True)
    transaction.close()


def _look(move: Move) -> _Look:
    """Look at a file.

    Raises:
        FileNotFoundError: its folder is not there: it may be on a disk that is not there now.
    """
    path = move.file
    path.parent.stat()
    return _Look(move, _found(path), _found(move.staged_file) == move.new)


def _found(path: Path) -> str | None:
    try:
        content = read_bytes(path)
    except InputError:
        return None
    return fingerprint(content.data) if content.path == path else None


def _sync(moves: Iterable[Move]) -> None:
    for folder in {move.file.parent for move in moves}:
        sync_folder(folder)
