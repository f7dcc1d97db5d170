"""Hears of changes on disk. Folders are watched, not files: editors save by renaming a new file over the old one."""

from __future__ import annotations

import logging
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import anyio
from watchfiles import awatch

from plgd.documents.watched import WatchedFiles

__all__ = ("FileWatch",)

# Changes that follow each other within so many milliseconds are told together; a save is several.
DEBOUNCE_MS: Final = 200
# Between two looks at whether to stop.
STEP_MS: Final = 50

_LOG: Final = logging.getLogger(__name__)


class FileWatch:
    """Watches the folders of files that were read from the disk; used on the event loop.

    Args:
        files: which; they learn what happened.
        on_change: told when something happened to one of them.
    """

    def __init__(self, files: WatchedFiles, on_change: Callable[[], None]) -> None:
        self._files = files
        self._on_change = on_change
        self._again = anyio.Event()
        self._stopped = False
        self._watched: dict[Path, tuple[int, int]] = {}  # with what tells a folder from another of the same name
        self._unwatched: set[Path] = set()  # files read before their folder was watched

    def add(self, path: Path) -> None:
        """Watch a file that has just been read."""
        self._files.add(path)
        if _identity(path.parent) != self._watched.get(path.parent):
            self._unwatched.add(path)
            self._again.set()

    def stop(self) -> None:
        """Let `run` end."""
        self._stopped = True
        self._again.set()

    async def run(self) -> None:
        """Watch until `stop`."""
        while not self._stopped:
            self._again = anyio.Event()
            found = {folder: _identity(folder) for folder in self._files.folders()}
            self._watched = {folder: identity for folder, identity in found.items() if identity is not None}
            if self._watched:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._look_again)
                    await self._watch(tuple(self._watched))
            await self._again.wait()

    async def _look_again(self) -> None:
        """See what happened to files between their reading and now; runs when the folders are watched already."""
        unwatched, self._unwatched = self._unwatched, set()
        self._tell(unwatched)

    def _tell(self, paths: Iterable[Path]) -> None:
        touched = [path for path in paths if self._files.touch(path)]
        if touched:
            self._on_change()

    async def _watch(self, folders: Iterable[Path]) -> None:
        """Watch some folders until there are others."""
        changes = awatch(
            *folders,
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            stop_event=self._again,
            recursive=False,
            ignore_permission_denied=True,
        )
        try:
            async for batch in changes:
                paths = {Path(path) for _, path in batch}
                self._tell(paths)
                self._replace({path for path in paths & self._watched.keys() if _identity(path) != self._watched[path]})
        except (OSError, RuntimeError) as error:
            # A folder went away, or the system watches no more of them: texts are read anew by each edit anyway.
            _LOG.info("files are not watched for now: %s", error)
            self._watched = {}

    def _replace(self, folders: Iterable[Path]) -> None:
        """Turn from folders that were deleted, moved or replaced to what has their names now."""
        for folder in folders:
            inside = self._files.inside(folder)
            self._unwatched.update(inside)
            self._again.set()
            self._tell(inside)


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return the device and number of a folder; None when there is none."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None
