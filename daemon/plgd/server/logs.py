"""The daemon's log: one file, rotated, for a person to read.

What users wrote never stands in it: file contents and instructions are not logged at any level, paths are.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

__all__ = ("log_to_file",)

_FORMAT: Final = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
# One earlier file: a fault is read soon after it happened.
_BACKUPS: Final = 1


class _DaemonLog(RotatingFileHandler):
    """A rotated file that also takes what the process writes to its standard output and error.

    Native code (a GPU driver, an assertion in C++) writes its last words there, and after a rotation they must not go
    to a file that nobody reads.
    """

    def _open(self) -> TextIOWrapper:
        stream = super()._open()
        sys.stdout.flush()
        sys.stderr.flush()
        for standard in (1, 2):
            os.dup2(stream.fileno(), standard)
        return stream


@contextmanager
def log_to_file(path: Path, *, limit: int, take_output: bool) -> Iterator[None]:
    """Log to a file until the block ends.

    Args:
        path: the file; its folder exists.
        limit: bytes before the file is rotated.
        take_output: the process's standard output and error go to the file too; otherwise the log is also written
            to standard error, for a daemon in the foreground.
    """
    rotating = _DaemonLog if take_output else RotatingFileHandler
    handlers: list[logging.Handler] = [rotating(path, maxBytes=limit, backupCount=_BACKUPS, encoding="utf-8")]
    if not take_output:
        handlers.append(logging.StreamHandler())
    root = logging.getLogger("plgd")
    level = root.level
    root.setLevel(logging.INFO)
    for handler in handlers:
        handler.setFormatter(logging.Formatter(_FORMAT))
        root.addHandler(handler)
    try:
        yield
    finally:
        root.setLevel(level)
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
