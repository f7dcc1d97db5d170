"""A daemon in the test's own event loop, whose model says what the test wants, when the test wants it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from plgd.config import Config
from plgd.engine.kept import KeepingTarget
from plgd.engine.sampling import GREEDY, Sampling
from plgd.paths import Paths
from plgd.server.app import Daemon
from plgd.server.instance import single_instance
from server.machine import Gate, GatedModel, Machine, Shelf

__all__ = ("Talker", "talking_daemon")


class Talker(GatedModel):
    """A model of words.

    Attributes:
        reply: what it says next; its closing fence is added.
        gate: held before each of its rounds.
        load_gate: held while it is loaded.
    """

    def __init__(self) -> None:
        self.gate = Gate()
        self.load_gate = Gate()
        self.reply = ""
        super().__init__("", self.gate)

    def target(self, sampling: Sampling = GREEDY) -> KeepingTarget:
        end = "" if self.reply.endswith("\n") or not self.reply else "\n"
        self._reply = f"{self.reply}{end}```\n"
        return super().target(sampling)


@asynccontextmanager
async def talking_daemon(paths: Paths, talker: Talker, config: Config | None = None) -> AsyncIterator[Daemon]:
    """Serve where front ends look for the daemon, until the end of the block."""
    machine = Machine(m=talker)
    machine.load_gate = talker.load_gate
    with single_instance(paths) as instance:
        daemon = Daemon(config or Config(), paths, lambda: machine, lambda: Shelf("m"))
        async with anyio.create_task_group() as group:

            async def serve(task_status: anyio.abc.TaskStatus[None]) -> None:
                await daemon.serve(instance, task_status.started)

            await group.start(serve)
            try:
                yield daemon
            finally:
                talker.gate.open()
                talker.load_gate.open()
                daemon.request_stop(False)
