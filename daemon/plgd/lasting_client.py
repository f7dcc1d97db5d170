"""A client that outlives the daemon: for programs that run for days, such as agents."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

import anyio
import msgspec

from plgd.client import Client, OnNotification, connect
from plgd.errors import ConnectionLost, PlgdError, ShuttingDown
from plgd.paths import Paths
from plgd.protocol.methods import Method

__all__ = ("LastingClient", "OnConnect", "connect_lasting")

ParamsT = TypeVar("ParamsT", bound=msgspec.Struct)
ResultT = TypeVar("ResultT", bound=msgspec.Struct)

# Told of each new connection before it is used, such as to open documents again.
OnConnect = Callable[[Client], Awaitable[None]]

# Daemons that may go away during one call before it is given up.
_N_TRIES: Final = 3
_KEY: Final = "idempotency_key"


async def _nothing(_client: Client) -> None:
    """Do nothing with a new connection."""


@asynccontextmanager
async def connect_lasting(
    paths: Paths, *, client: str, start: bool = True, on_connect: OnConnect = _nothing
) -> AsyncIterator[LastingClient]:
    """Make a client that connects at its first call, and again whenever the daemon went away.

    Args:
        paths: where the daemon's socket is.
        client: the client's name for the daemon's log.
        start: start the daemon when none runs.
        on_connect: told of each new connection before it is used. Its calls are repeated with the connection.
    """
    lasting = LastingClient()
    raised: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(lasting.connect_forever, paths, client, start, on_connect)
        try:
            yield lasting
        except Exception as error:  # noqa: BLE001  # a task group would wrap it; it is raised again below
            raised = error
        finally:
            group.cancel_scope.cancel()
    if raised is not None:
        raise raised


@dataclass(slots=True)
class _Attempt:
    """A connection that callers wait for."""

    done: anyio.Event = field(default_factory=anyio.Event)
    outcome: Client | PlgdError | None = None


class LastingClient:
    """Like `Client`, but a call whose daemon went away is made again; made by `connect_lasting`.

    Every request that takes an `idempotency_key` and comes without one gets one, so that the daemon does not do twice
    what it had done when it went away.
    """

    def __init__(self) -> None:
        self._client: Client | None = None
        self._wanted = anyio.Event()
        self._attempt = _Attempt()

    async def call(
        self, method: Method[ParamsT, ResultT], params: ParamsT, on_notification: OnNotification | None = None
    ) -> ResultT:
        """Send a request and wait for its answer. When the caller is cancelled, so is the request.

        Args:
            method: an entry of `plgd.protocol.methods`.
            params: its parameters.
            on_notification: called with the decoded notifications of this request. Those of a request that had to be
                repeated begin anew.

        Raises:
            PlgdError: the daemon refused or failed, or cannot be reached or started.
            ConnectionLost: the daemon went away, and what was asked must not be done twice; or several daemons did.
        """
        params = _with_key(params)
        may_repeat = method.repeatable or _KEY in method.params.__struct_fields__
        n_lost = 0
        while True:
            client = await self._connected()
            try:
                return await client.call(method, params, on_notification)
            except ShuttingDown:
                # Nothing was begun. The connection ends with the daemon.
                await client.wait_closed()
            except ConnectionLost:
                n_lost += 1
                if not may_repeat or n_lost == _N_TRIES:
                    raise

    async def connect_forever(self, paths: Paths, client: str, start: bool, on_connect: OnConnect) -> None:
        """Connect whenever a caller wants it and there is no connection; see `connect_lasting`."""
        while True:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            try:
                async with connect(paths, client=client, start=start) as opened:
                    await on_connect(opened)
                    self._settle(opened)
                    await opened.wait_closed()
            except PlgdError as error:
                self._settle(error)

    async def _connected(self) -> Client:
        if self._client is not None and not self._client.is_lost:
            return self._client
        attempt = self._attempt
        self._wanted.set()
        await attempt.done.wait()
        if isinstance(attempt.outcome, Client):
            return attempt.outcome
        raise attempt.outcome or ConnectionLost()

    def _settle(self, outcome: Client | PlgdError) -> None:
        self._client = outcome if isinstance(outcome, Client) else None
        settled, self._attempt = self._attempt, _Attempt()
        settled.outcome = outcome
        settled.done.set()


def _with_key(params: ParamsT) -> ParamsT:
    if getattr(params, _KEY, "") is None:
        return msgspec.structs.replace(params, **{_KEY: secrets.token_hex(16)})
    return params
