"""What a pull shares with its caller: progress, the wish to stop, and the conversion it is given."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from plgd.errors import Cancelled, NoSpace

__all__ = ("Convert", "OnProgress", "Pulling", "check_space")

# (gguf, folder) -> None: writes an mlx-lm model folder. Injected, because only the engine may import mlx.
Convert: TypeAlias = Callable[[Path, Path], None]
# (step, done_bytes, total_bytes) -> None; total_bytes is 0 when unknown.
OnProgress: TypeAlias = Callable[[str, int, int], None]


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


def check_space(folder: Path, needed_bytes: int) -> None:
    """Compare the free space of a folder's disk with what is about to be written.

    Raises:
        NoSpace: it does not fit.
    """
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        raise NoSpace.at(str(folder), needed_bytes, free_bytes)
