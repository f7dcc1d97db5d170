"""What the daemon does for the methods of models."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from plgd.protocol import methods
from plgd.protocol.base import NoParams
from plgd.protocol.models import ModelInfo, ModelListResult, ModelParams, PullParams, PullProgress
from plgd.server.dispatch import Call, Dispatcher
from plgd.server.jobs import JobEvent, JobResult
from plgd.server.lifecycle import Lifecycle
from plgd.server.model_store import MakeModelStore, ModelStore
from plgd.server.worker import Worker

__all__ = ("ModelHandlers",)


class ModelHandlers:
    """Asks the store of models, which reads the disk and the net, in threads.

    Args:
        make_models: makes the store; called at the first need, in a thread.
        worker: owns the model; converts what was fetched.
        lifecycle: knows whether the daemon is about to stop.
    """

    def __init__(self, make_models: MakeModelStore, worker: Worker[JobEvent, JobResult], lifecycle: Lifecycle) -> None:
        self._make_models = make_models
        self._worker = worker
        self._lifecycle = lifecycle
        self._models: ModelStore | None = None
        self._making_models = anyio.Lock()

    def register(self, dispatcher: Dispatcher) -> None:
        """Let every method be answered."""
        dispatcher.add(methods.MODEL_LIST, self.list)
        dispatcher.add(methods.MODEL_INFO, self.info)
        dispatcher.add(methods.MODEL_USE, self.use)
        dispatcher.add(methods.MODEL_PULL, self.pull)

    async def store(self) -> ModelStore:
        """Return the store of models, made at the first need."""
        async with self._making_models:
            if self._models is None:
                self._models = await to_thread.run_sync(self._make_models)
            return self._models

    async def find(self, name: str | None) -> str:
        """Return the full name of a model that can be loaded; arguments and errors as `ModelStore.find`."""
        return await to_thread.run_sync((await self.store()).find, name)

    async def list(self, _call: Call, _params: NoParams) -> ModelListResult:
        """List models from the disk."""
        return await to_thread.run_sync((await self.store()).list)

    async def info(self, _call: Call, params: ModelParams) -> ModelInfo:
        """Describe a model from the disk."""
        return await to_thread.run_sync((await self.store()).info, params.name)

    async def use(self, _call: Call, params: ModelParams) -> ModelInfo:
        """Choose a model; it is loaded by the next edit."""
        return await to_thread.run_sync((await self.store()).use, params.name)

    async def pull(self, call: Call, params: PullParams) -> ModelInfo:
        """Fetch a model in a thread; the conversion runs where the model runs."""
        self._lifecycle.check_open()
        models = await self.store()
        loop = asyncio.get_running_loop()

        def on_progress(step: str, done_bytes: int, total_bytes: int) -> None:
            progress = PullProgress(id=call.id, step=step, done_bytes=done_bytes, total_bytes=total_bytes)
            loop.call_soon_threadsafe(call.notify, methods.MODEL_PROGRESS, progress)

        def convert(gguf: Path, folder: Path) -> None:
            self._worker.run_errand(lambda backend: backend.convert(gguf, folder)).result()

        with self._lifecycle.interruptible() as interrupt:
            pull = partial(
                models.pull,
                params.name,
                force=params.force,
                convert=convert,
                on_progress=on_progress,
                cancelled=interrupt.is_set,
            )
            # Abandoned when cancelled: the thread sees the interrupt at its next chunk and ends by itself.
            return await to_thread.run_sync(pull, abandon_on_cancel=True)
