"""A daemon's process whose model says what comes through a named pipe: `python dictated_daemon.py PIPE`."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from doubles import ScriptedTarget
from plgd.config import Config
from plgd.engine.kept import KeepingTarget
from plgd.engine.sampling import GREEDY, Sampling
from plgd.paths import Paths
from plgd.server.app import Daemon
from plgd.server.instance import single_instance
from scripted_model import EOS, ScriptedModel
from server.machine import Machine, Shelf

__all__ = ("main",)


class DictatedTarget(ScriptedTarget):
    """Waits for its reply, when it has to begin with it, until somebody has written it into a pipe."""

    def __init__(self, pipe: Path, *, end: int, context_limit: int) -> None:
        super().__init__((), end=end, context_limit=context_limit)
        self._pipe = pipe
        self._is_told = False

    def _choose(self) -> int:
        # Reading a document ahead of its edit says nothing, so nothing is asked of the pipe.
        if not self._is_told:
            self._is_told = True
            self._reply = list(self._pipe.read_bytes())
        return super()._choose()


class DictatedModel(ScriptedModel):
    """A model whose every reply comes through a named pipe."""

    def __init__(self, pipe: Path) -> None:
        super().__init__("")
        self._pipe = pipe

    def target(self, sampling: Sampling = GREEDY) -> KeepingTarget:
        self.samplings.append(sampling)
        return DictatedTarget(self._pipe, end=EOS, context_limit=self.context_limit)


def main() -> None:
    """Serve until killed; says on standard output when clients can connect."""
    paths = Paths.from_environment()
    machine = Machine(m=DictatedModel(Path(sys.argv[1])))
    with single_instance(paths) as instance:
        daemon = Daemon(Config(), paths, lambda: machine, lambda: Shelf("m"))

        def say_ready() -> None:
            sys.stdout.write("ready\n")
            sys.stdout.flush()

        anyio.run(daemon.serve, instance, say_ready)


if __name__ == "__main__":
    main()
