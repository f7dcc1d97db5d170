"""A process that dies: the system's calls that change a disk, until a certain one, and none after that."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

__all__ = ("CALLS", "Crash", "Disk", "watched_disk")

# Everything by which a transaction changes the disk. `Path` calls these, too.
CALLS = ("open", "write", "fsync", "link", "replace", "unlink", "mkdir", "fchmod", "fchown")


class Crash(BaseException):
    """The process is dead. No handler of `Exception` sees it."""


class Disk:
    """Counts calls and dies at one of them, or lets it fail.

    Args:
        dies_at: the call that is not made any more, counted from 0.
        fails_at: the call that fails.
        error: how it fails.
        die: ends the process, where one is to end.

    Attributes:
        calls: what was called, with the first argument.
    """

    def __init__(
        self,
        *,
        dies_at: int | None = None,
        fails_at: int | None = None,
        error: int = 0,
        die: Callable[[], None] = lambda: None,
    ) -> None:
        self._die = die
        self.calls: list[tuple[str, object]] = []
        self._dies_at = dies_at
        self._fails_at = fails_at
        self._error = error

    def wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the call as this disk carries it out."""

        def carried_out(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401  # whatever the system's call takes
            if name == "open" and not arguments[1] & (os.O_CREAT | os.O_WRONLY):
                return call(*arguments, **options)
            number = len(self.calls)
            if self._dies_at is not None and number >= self._dies_at:
                self._die()
                raise Crash
            self.calls.append((name, arguments[0]))
            if number == self._fails_at:
                raise OSError(self._error, os.strerror(self._error), str(arguments[0]))
            # The process dies, not the machine: what was written stays, flushed or not.
            return None if name == "fsync" else call(*arguments, **options)

        return carried_out


@contextmanager
def watched_disk(
    monkeypatch: pytest.MonkeyPatch, *, dies_at: int | None = None, fails_at: int | None = None, error: int = 0
) -> Iterator[Disk]:
    """Let every change of the disk go through a double until the block ends."""
    disk = Disk(dies_at=dies_at, fails_at=fails_at, error=error)
    with monkeypatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, disk.wrap(name, getattr(os, name)))
        yield disk
