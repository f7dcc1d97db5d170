"""Daemon processes one after the other, each of which kills itself at a certain point: `python mortal_daemons.py`.

A line on standard input starts the next: the call that changes the disk, counted within a transaction, at which it gets
SIGKILL, or -1 for none. Standard output says when it listens, with its process, and when it is gone. Each is forked
from this process, which has everything imported and no threads.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from functools import partial
from unittest.mock import patch

import anyio

from edits.crashes import CALLS, Disk
from edits.running import RepliesModel
from plgd.config import Config
from plgd.edits.journal import Journal
from plgd.edits.transaction import Replacement, replace_files
from plgd.paths import Paths
from plgd.server.app import Daemon
from plgd.server.instance import single_instance
from server.machine import Machine, Shelf

__all__ = ("FILES", "main")

# Name -> text before and after.
FILES = {
    "a.py": ("a = 1\n", "a = 2\n"),
    "b.py": ("b = 1\n", "b = 2\nb = 3\n"),
    "c.py": ("c = 1\n" * 4, "c = 2\n" * 3),
}


def main() -> None:
    """Fork a daemon for each line of standard input."""
    anyio.run(anyio.sleep, 0)  # imports the backend, once for all
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _serve(int(line))
            os._exit(0)
        os.waitpid(child, 0)
        _say("gone")


def _serve(dies_at: int) -> None:
    paths = Paths.from_environment()
    machine = Machine(m=RepliesModel([f"{new}```\n" for _, new in FILES.values()]))
    if dies_at >= 0:
        patch("plgd.edits.apply_all.replace_files", partial(_killed, dies_at)).start()
    with single_instance(paths) as instance:
        daemon = Daemon(Config(), paths, lambda: machine, lambda: Shelf("m"))
        anyio.run(daemon.serve, instance, partial(_say, f"ready {os.getpid()}"))


def _killed(dies_at: int, replacements: Sequence[Replacement], journal: Journal) -> None:
    """Replace files in a process that is killed at one of the calls."""
    disk = Disk(dies_at=dies_at, die=lambda: os.kill(os.getpid(), signal.SIGKILL))
    for name in CALLS:
        patch.object(os, name, disk.wrap(name, getattr(os, name))).start()
    replace_files(replacements, journal)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
