"""Watched files: texts that no editor holds, and what was heard of them since they were read."""

from __future__ import annotations

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ("WatchedFile", "WatchedFiles")

# Files, and so folders, that are watched at once; those read longest ago are let go.
LIMIT: Final = 64


@dataclass(frozen=True, slots=True)
class WatchedFile:
    """A file that was changed on disk.

    Attributes:
        path: the real one.
        revision: grows with every change of any file.
        changed_at: when it was heard of, in seconds of the owner's clock.
    """

    path: Path
    revision: int
    changed_at: float


class WatchedFiles:
    """The files that were read from the disk and may be edited again. May be used from several threads.

    Args:
        limit: files at once.
        clock: seconds from any start.
    """

    def __init__(self, limit: int = LIMIT, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._files: OrderedDict[Path, WatchedFile | None] = OrderedDict()
        self._revisions = itertools.count(1)
        self._lock = threading.Lock()

    def add(self, path: Path) -> None:
        """Watch a file that has just been read."""
        with self._lock:
            self._files[path] = self._files.pop(path, None)
            if len(self._files) > self._limit:
                self._files.popitem(last=False)

    def touch(self, path: Path) -> bool:
        """Note that something happened to a file; return whether it is one of these."""
        with self._lock:
            if path not in self._files:
                return False
            self._files[path] = WatchedFile(path, next(self._revisions), self._clock())
            return True

    def folders(self) -> frozenset[Path]:
        """Return the folders of the files. A file that is saved by renaming is a new one; its folder stays."""
        with self._lock:
            return frozenset(path.parent for path in self._files)

    def inside(self, folder: Path) -> tuple[Path, ...]:
        """Return the files of a folder."""
        with self._lock:
            return tuple(path for path in self._files if path.parent == folder)

    def changed(self) -> tuple[WatchedFile, ...]:
        """Return the files that something happened to, changed last first."""
        with self._lock:
            found = [file for file in self._files.values() if file is not None]
        return tuple(sorted(found, key=lambda file: -file.revision))
