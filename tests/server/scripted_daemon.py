"""A daemon's process with a model of words: `python scripted_daemon.py`; its replies never get past their gate."""

from __future__ import annotations

import sys

import anyio

from plgd.config import Config
from plgd.paths import Paths
from plgd.server.app import Daemon
from plgd.server.instance import single_instance
from server.machine import Gate, GatedModel, Machine, Shelf

__all__ = ("main",)


def main() -> None:
    """Serve until killed; says on standard output when clients can connect."""
    paths = Paths.from_environment()
    machine = Machine(m=GatedModel("x = 1\n```\n", Gate(is_open=False)))
    with single_instance(paths) as instance:
        daemon = Daemon(Config(), paths, lambda: machine, lambda: Shelf("m"))

        def say_ready() -> None:
            sys.stdout.write("ready\n")
            sys.stdout.flush()

        anyio.run(daemon.serve, instance, say_ready)


if __name__ == "__main__":
    main()
