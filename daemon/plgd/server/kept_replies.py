"""Replies on disk, by the keys of their requests: the same key gives the same reply, also in the next daemon.

A reply that says that a file was written is put on disk before the file is, as a promise. If the daemon dies between
the two, the file itself tells whether the promise was kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from plgd.documents.document import read_bytes
from plgd.errors import Conflict, InputError, KeyReused
from plgd.protocol.edits import EditResult
from plgd.text.fingerprint import fingerprint

__all__ = ("KeptReplies", "Promised", "promised_file")

_EXPIRES_AFTER_S: Final = 3600.0
_LIMIT: Final = 256
_BYTES_LIMIT: Final = 64 * 1024 * 1024
_SUFFIX: Final = ".json"

_LOG: Final = logging.getLogger(__name__)


class Promised(msgspec.Struct, frozen=True):
    """A file that is about to be written.

    Attributes:
        path: the real file, as the system spells it.
        base: fingerprint of the text that it has.
        new: fingerprint of the text that it gets.
    """

    path: bytes
    base: str
    new: str


def promised_file(result: EditResult) -> Promised:
    """Return what a result says of its file."""
    return Promised(os.fsencode(result.path), result.base_fingerprint, result.new_fingerprint)


class _Entry(msgspec.Struct, frozen=True):
    """One file of the folder; `promised` is empty once the work is done."""

    request: str
    promised: tuple[Promised, ...]
    reply: msgspec.Raw


_ENTRY: Final = msgspec.json.Decoder(_Entry)


class KeptReplies:
    """Bounded by number, bytes and an hour; the oldest go first. Methods touch the disk; call them in a thread.

    Args:
        folder: made when it is needed, for its owner alone; holds nothing else.
        clock: seconds since 1970.
        limit: replies that are kept.
        bytes_limit: disk space that they may take; the newest is kept even if it is larger.
    """

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], float] = time.time,
        *,
        limit: int = _LIMIT,
        bytes_limit: int = _BYTES_LIMIT,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._limit = limit
        self._bytes_limit = bytes_limit

    def find(self, key: str, request: str) -> bytes | None:
        """Return the reply to a request that was made before; `None` when it has to be carried out.

        Args:
            key: the client's.
            request: tells two requests apart.

        Raises:
            KeyReused: the key came with another request.
            Conflict: a daemon died in the middle of it, and its file has a third text now.
        """
        path = self._path(key)
        entry = self._read(path)
        if entry is None:
            return None
        if entry.request != request:
            raise KeyReused.of(key)
        states = {_state(each) for each in entry.promised}
        if states <= {"new"}:
            return bytes(entry.reply)
        if states == {"base"}:
            return None
        unclear = next(each.path for each in entry.promised if _state(each) != "new")
        raise Conflict.after_crash(os.fsdecode(unclear))

    def keep(self, key: str, request: str, reply: bytes, promised: Sequence[Promised] = ()) -> None:
        """Keep a reply.

        Args:
            key: the client's.
            request: tells two requests apart.
            reply: JSON.
            promised: files that are about to be written; none once that is done.

        Raises:
            OSError: it cannot be kept.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = msgspec.json.encode(_Entry(request, tuple(promised), msgspec.Raw(reply)))
        handle, name = tempfile.mkstemp(dir=self._folder)  # 0600
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            now = self._clock()
            os.utime(temporary, (now, now))
            temporary.replace(self._path(key))
        finally:
            temporary.unlink(missing_ok=True)
        self.prune()

    def forget(self, key: str) -> None:
        """Drop a promise that came to nothing."""
        with contextlib.suppress(OSError):  # then the file, which was not written, says so
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / (hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest() + _SUFFIX)

    def _read(self, path: Path) -> _Entry | None:
        try:
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                if os.fstat(file.fileno()).st_mtime < self._clock() - _EXPIRES_AFTER_S:
                    return None
                return _ENTRY.decode(file.read())
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            _LOG.warning("a kept reply cannot be read (%s); its request is carried out", error)
            return None

    def prune(self) -> None:
        """Remove what is too old, and the oldest of what is too much."""
        try:
            found = sorted(self._list(), reverse=True)
        except OSError:
            return  # there is no folder yet, or it cannot be listed: what is too old is not given either way
        n_bytes = 0
        for number, (changed_at, size, path) in enumerate(found):
            n_bytes += size
            is_old = changed_at < self._clock() - _EXPIRES_AFTER_S
            if is_old or number >= self._limit or (number and n_bytes > self._bytes_limit):
                path.unlink(missing_ok=True)

    def _list(self) -> list[tuple[float, int, Path]]:
        found = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        found.append((status.st_mtime, status.st_size, Path(entry.path)))
        return found


def _state(promised: Promised) -> str:
    try:
        found = fingerprint(read_bytes(Path(os.fsdecode(promised.path))).data)
    except InputError:
        return "other"
    return "new" if found == promised.new else "base" if found == promised.base else "other"
