"""What a pull shares with its caller: progress, the wish to stop, and the conversion it is given."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from filelock import FileLock, Timeout

from plgd.errors import Cancelled, NoSpace, PullFailed

__all__ = ("Convert", "OnProgress", "Pulling", "check_space", "make_folder", "only_one")

# (gguf, folder) -> None: writes an mlx-lm model folder. Injected, because only the engine may import mlx.
Convert: TypeAlias = Callable[[Path, Path], None]
# (step, done_bytes, total_bytes) -> None; total_bytes is 0 when unknown.
OnProgress: TypeAlias = Callable[[str, int, int], None]

# How often a cancel is looked for while another process holds the lock.
POLL_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Pulling:
    """One pull under way, as its steps see it.

    Attributes:
        name: the model's name, for messages.
        on_progress: called from the thread that pulls.
        cancelled: asked between chunks; True stops the pull, what arrived is kept.
    """

    name: str
    on_progress: OnProgress
    cancelled: Callable[[], bool]

    def report(self, step: str, done_bytes: int = 0, total_bytes: int = 0) -> None:
        """Report progress.

        Raises:
            Cancelled: the caller wants no more.
        """
        if self.cancelled():
            raise Cancelled
        self.on_progress(step, done_bytes, total_bytes)

    def part(self, before_bytes: int, total_bytes: int) -> Pulling:
        """Return the view of one file of several: its bytes are reported as progress of the whole."""
        return replace(
            self,
            on_progress=lambda step, done_bytes, _: self.on_progress(step, before_bytes + done_bytes, total_bytes),
        )


def check_space(folder: Path, needed_bytes: int) -> None:
    """Compare the free space of a folder's disk with what is about to be written.

    Raises:
        NoSpace: it does not fit.
    """
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        raise NoSpace.at(str(folder), needed_bytes, free_bytes)


def make_folder(folder: Path, pulling: Pulling) -> None:
    """Create a folder that models are to be put into, unless it is there.

    Raises:
        PullFailed: it cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PullFailed.of(pulling.name, f"the folder {folder} cannot be made ({error.strerror})") from error


@contextmanager
def only_one(lock_path: Path, pulling: Pulling) -> Iterator[None]:
    """Hold a lock across threads and processes, reporting `wait` until it is free.

    The operating system drops the lock when its holder dies.

    Raises:
        Cancelled: while it waited.
    """
    lock = FileLock(lock_path)
    while True:
        try:
            lock.acquire(timeout=POLL_S)
            break
        except Timeout:
            pulling.report("wait")
    try:
        yield
    finally:
        lock.release()
