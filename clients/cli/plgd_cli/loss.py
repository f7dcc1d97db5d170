"""What is said when the daemon dies in the middle of an edit: what happened, what comes next, how the file stands."""

from __future__ import annotations

from pathlib import Path

from plgd.errors import ConnectionLost

__all__ = ("FileBefore", "daemon_lost")


def daemon_lost(error: ConnectionLost, outcome: str) -> ConnectionLost:
    """Explain the loss to a person.

    Args:
        error: the loss.
        outcome: how the text stands, a sentence.
    """
    return ConnectionLost(f"{error.message} It was killed or it crashed; the next command starts another. {outcome}")


class FileBefore:
    """A file before its edit, to see afterwards whether it was written. The daemon writes by a rename."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._state = self._now()

    def compared(self, name: str) -> str:
        """Say, by the name that the user gave, whether the file was written since."""
        if self._now() == self._state:
            return f"{name} is unchanged."
        return f"{name} was written since the edit began, by plgd or by somebody else; look at it."

    def _now(self) -> tuple[int, ...] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size
