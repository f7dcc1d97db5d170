"""`plgd logs`: the daemon's log."""

from __future__ import annotations

import argparse
import os
import time
from collections import deque
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

from plgd.errors import PlgdError
from plgd.paths import Paths
from plgd_cli.output import write
from plgd_cli.parser import Parser, positive

__all__ = ("register", "run")

# How long `logs -f` lets new lines wait.
FOLLOW_INTERVAL_S: Final = 0.2


def register(_name: str, parser: Parser) -> None:
    """Add the arguments of `plgd logs`."""
    parser.add_argument("-f", "--follow", action="store_true", help="go on printing as the log grows, until Ctrl-C")
    parser.add_argument("-n", "--lines", type=positive, default=50, metavar="N", help="last lines (default 50)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out `plgd logs`."""
    log = Paths.from_environment().log
    try:
        with log.open("rb") as stream:
            write(b"".join(deque(stream, maxlen=arguments.lines)))
            if arguments.follow:
                _follow(log, stream)
    except FileNotFoundError:
        raise PlgdError(f"There is no log yet at {log}; the daemon writes it when it starts.") from None
    except OSError as error:
        raise PlgdError(f"The log {log} cannot be read: {error.strerror}.") from error
    except KeyboardInterrupt:
        if not arguments.follow:
            raise
    return 0  # Ctrl-C is how following ends, not a failure


def _follow(log: Path, stream: BinaryIO) -> None:
    """Print what is added to the log, for ever. A log that was rotated away is read to its end, then its successor."""
    with ExitStack() as opened:
        while True:
            time.sleep(FOLLOW_INTERVAL_S)
            # Opened before the last look into the old file: what comes after a rotation is in the successor.
            successor = _open_successor(log, stream)
            if os.fstat(stream.fileno()).st_size < stream.tell():
                stream.seek(0)  # emptied in its place
            write(stream.read())
            if successor is not None:
                opened.close()
                stream = opened.enter_context(successor)


def _open_successor(log: Path, stream: BinaryIO) -> BinaryIO | None:
    """Open the file that has the log's name now; `None` while that is the one that is open already."""
    try:
        successor = log.open("rb")
    except FileNotFoundError:
        return None  # between the two renames of a rotation
    if not os.path.sameopenfile(successor.fileno(), stream.fileno()):
        return successor
    successor.close()
    return None
