"""`plgd logs`: the daemon's log."""

from __future__ import annotations

import argparse
import time
from collections import deque
from pathlib import Path
from typing import Final

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
            position = stream.tell()
        if arguments.follow:
            _follow(log, position)
    except FileNotFoundError:
        raise PlgdError(f"There is no log yet at {log}; the daemon writes it when it starts.") from None
    except OSError as error:
        raise PlgdError(f"The log {log} cannot be read: {error.strerror}.") from error
    except KeyboardInterrupt:
        if not arguments.follow:
            raise
    return 0  # Ctrl-C is how following ends, not a failure


def _follow(log: Path, position: int) -> None:
    """Print what is added to the log, for ever. A log that was rotated away is followed by its successor."""
    inode = log.stat().st_ino
    while True:
        time.sleep(FOLLOW_INTERVAL_S)
        if not log.exists():
            continue  # between the two renames of a rotation
        now = log.stat()
        if now.st_ino != inode or now.st_size < position:
            inode, position = now.st_ino, 0
        with log.open("rb") as stream:
            stream.seek(position)
            write(stream.read())
            position = stream.tell()
