"""The file beside the user's file that a new text is written to before it takes the old one's name."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

__all__ = ("Temporary", "temporary_beside")

_SUFFIX: Final = ".plgd"
# The eight characters are `tempfile`'s.
_NAME: Final = re.compile(r"\..+\.[a-z0-9_]{8}\.plgd", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Temporary:
    """A new file in the target's folder; locked for as long as it is open, so that nobody takes it for a leftover.

    Attributes:
        file: open for writing.
        path: where it is.
    """

    file: BinaryIO
    path: Path


@contextmanager
def temporary_beside(path: Path) -> Iterator[Temporary]:
    """Make a file in the same folder; what has not been renamed when the block ends is removed.

    What a process that was killed in the middle of this left in the folder is removed first.

    Raises:
        OSError: the folder cannot be written to.
    """
    _sweep(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=_SUFFIX)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            # Without locks on this file system, nothing there is ever taken for a leftover.
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield Temporary(file, temporary)
    finally:
        temporary.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove the temporary files of writers that died: nobody holds their lock."""
    # A folder that may not be listed can still be written to; a leftover is no reason to fail.
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                _remove_unlocked(Path(entry.path))


def _remove_unlocked(path: Path) -> None:
    # Whoever holds the lock still writes; who has just renamed or removed it was faster.
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(handle)
            if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
        finally:
            os.close(handle)
