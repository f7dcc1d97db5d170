"""The journal: what several files are about to become, on disk before any of them changes.

A transaction is one file of the journal's folder. Its first line says which files are meant and what they hold before
and after; a second line says that everything is prepared and the renames begin. Each line begins with a hash of the
rest, so that one that a crash cut off is known. When the transaction is over, its file is removed.

The folder belongs to one daemon, which holds its user's lock.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from plgd.paths import private_folder
from plgd.text.fingerprint import fingerprint

__all__ = ("Journal", "Move", "Transaction", "sync_folder")

_SUFFIX: Final = ".journal"
_COMMITTED: Final = b'"committed"'
_HASH_LENGTH: Final = 16

_LOG: Final = logging.getLogger(__name__)


class Move(msgspec.Struct, frozen=True):
    """One file of a transaction. Paths are as the system spells them.

    Attributes:
        path: the real file.
        staged: beside it, with the new text, until the rename.
        kept: beside it, with the old text, until the transaction is over.
        old: fingerprint of the text that it has.
        new: fingerprint of the text that it gets.
    """

    path: bytes
    staged: bytes
    kept: bytes
    old: str
    new: str

    @property
    def file(self) -> Path:
        """The real file."""
        return Path(os.fsdecode(self.path))

    @property
    def staged_file(self) -> Path:
        """Where the new text waits."""
        return Path(os.fsdecode(self.staged))

    @property
    def kept_file(self) -> Path:
        """Where the old text is kept."""
        return Path(os.fsdecode(self.kept))


_MOVES: Final = msgspec.json.Decoder(tuple[Move, ...])


class Transaction:
    """A transaction on disk.

    Attributes:
        moves: the files, in order; none where a crash cut off the line that names them.
        committed: whether renames may have begun.
    """

    def __init__(self, file: Path, moves: tuple[Move, ...], *, committed: bool = False) -> None:
        self.moves = moves
        self.committed = committed
        self._file = file

    @property
    def name(self) -> str:
        """What the log calls it."""
        return self._file.stem

    def commit(self) -> None:
        """Put on disk that everything is prepared. From now on, a crash is followed by the renames.

        Raises:
            OSError: the disk said no; whether the line is there is not known, and recovery does not need to know.
        """
        _append(self._file, _COMMITTED, os.O_WRONLY | os.O_APPEND)
        self.committed = True

    def close(self) -> None:
        """Remove it: nothing of it is left to be done."""
        self._file.unlink(missing_ok=True)
        sync_folder(self._file.parent)


class Journal:
    """The transactions of one daemon.

    Args:
        folder: made when it is needed, for its owner alone.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, moves: Sequence[Move]) -> Transaction:
        """Put a transaction on disk.

        Raises:
            OSError: the disk said no.
            StartFailed: the folder is not this user's alone.
        """
        private_folder(self._folder)
        file = self._folder / f"{secrets.token_hex(8)}{_SUFFIX}"
        try:
            _append(file, msgspec.json.encode(moves), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        except OSError:
            file.unlink(missing_ok=True)
            raise
        sync_folder(self._folder)
        return Transaction(file, tuple(moves))

    def left_behind(self) -> Iterator[Transaction]:
        """Yield the transactions of a daemon that died; one that cannot be read is logged and left."""
        for file in sorted(self._folder.glob(f"*{_SUFFIX}")):
            try:
                data = file.read_bytes()
                lines = _lines(data)
                moves = _MOVES.decode(lines[0]) if lines else ()
            except (OSError, msgspec.MsgspecError) as error:
                _LOG.error("the journal's %s cannot be read: %s", file.name, error)
                continue
            if not lines and data.endswith(_line(_COMMITTED)):
                # No crash does that: the first line was whole before the second was begun. Files may be renamed by now.
                _LOG.error("the journal's %s is damaged; what it was about cannot be finished or undone", file.name)
                continue
            yield Transaction(file, moves, committed=_COMMITTED in lines[1:])


def sync_folder(folder: Path) -> None:
    """Put a folder's names on disk.

    Raises:
        OSError: the disk said no.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _append(file: Path, content: bytes, flags: int) -> None:
    line = _line(content)
    handle = os.open(file, flags | os.O_CLOEXEC, 0o600)
    try:
        while line:
            line = line[os.write(handle, line) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _line(content: bytes) -> bytes:
    return b"%s %s\n" % (_hash(content), content)


def _lines(data: bytes) -> list[bytes]:
    """Return the whole lines, up to the first that was cut off."""
    whole: list[bytes] = []
    for line in data.split(b"\n")[:-1]:
        hashed, _, content = line.partition(b" ")
        if hashed != _hash(content):
            break
        whole.append(content)
    return whole


def _hash(content: bytes) -> bytes:
    return fingerprint(content)[:_HASH_LENGTH].encode()
