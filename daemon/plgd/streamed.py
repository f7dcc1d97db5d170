"""A call whose notifications are iterated over while it goes on."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, Protocol, TypeVar

import anyio
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream

from plgd.client import OnNotification
from plgd.protocol.methods import Method

__all__ = ("Caller", "Streamed", "streamed")

ParamsT = TypeVar("ParamsT", bound=msgspec.Struct)
ResultT = TypeVar("ResultT", bound=msgspec.Struct)


class Caller(Protocol):
    """Who makes calls: a `Client` or a `LastingClient`."""

    async def call(
        self, method: Method[ParamsT, ResultT], params: ParamsT, on_notification: OnNotification | None = None
    ) -> ResultT:
        """Send a request and wait for its answer."""
        ...


class Streamed(Generic[ResultT]):
    """A call under way: `async for` gives its notifications, then `result` its result. Made by `streamed`."""

    def __init__(self, notes: MemoryObjectReceiveStream[msgspec.Struct]) -> None:
        self._notes = notes
        self._outcome: ResultT | Exception | None = None

    def __aiter__(self) -> AsyncIterator[msgspec.Struct]:
        """Iterate over the notifications, in order, until the answer is there."""
        return self._notes.__aiter__()

    async def result(self) -> ResultT:
        """Wait for the answer; notifications that were not iterated over are dropped.

        Raises:
            PlgdError: what the call raised.
        """
        async for _ in self:
            pass
        if self._outcome is None:
            raise RuntimeError("the call is not over")
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    def settle(self, outcome: ResultT | Exception) -> None:
        """Note what the call came to."""
        self._outcome = outcome


@asynccontextmanager
async def streamed(
    caller: Caller, method: Method[ParamsT, ResultT], params: ParamsT
) -> AsyncIterator[Streamed[ResultT]]:
    """Make a call, and hand out its notifications as they come. Leaving the block early cancels the request.

    Args:
        caller: a `Client` or a `LastingClient`.
        method: an entry of `plgd.protocol.methods`.
        params: its parameters.
    """
    send, receive = anyio.create_memory_object_stream[msgspec.Struct](math.inf)
    call = Streamed[ResultT](receive)

    async def run() -> None:
        with send:
            try:
                call.settle(await caller.call(method, params, send.send_nowait))
            except Exception as error:  # noqa: BLE001  # whoever asks for the result gets it
                call.settle(error)

    raised: Exception | None = None
    with receive:
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            try:
                yield call
            except Exception as error:  # noqa: BLE001  # a task group would wrap it; it is raised again below
                raised = error
            finally:
                group.cancel_scope.cancel()
    if raised is not None:
        raise raised
