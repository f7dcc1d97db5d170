"""A daemon in the test's own event loop, whose model gives short replies at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from plgd.config import Config
from plgd.engine.model import Model
from plgd.paths import Paths
from plgd.server.app import Daemon
from plgd.server.instance import single_instance
from server.machine import Machine, Shelf

__all__ = ("served_model",)


@asynccontextmanager
async def served_model(paths: Paths, model: Model, config: Config | None = None) -> AsyncIterator[None]:
    """Serve a model until the end of the block; it is the default, `m`."""
    machine = Machine(m=model)
    with single_instance(paths) as instance:
        daemon = Daemon(config or Config(), paths, lambda: machine, lambda: Shelf("m"))
        async with anyio.create_task_group() as group:

            async def serve(task_status: anyio.abc.TaskStatus[None]) -> None:
                await daemon.serve(instance, task_status.started)

            await group.start(serve)
            try:
                yield
            finally:
                daemon.request_stop(False)
