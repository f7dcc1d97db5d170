"""The connection to the daemon: made when it is needed, made again when the daemon was restarted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import anyio

from plgd.client import Client, connect
from plgd.errors import ConnectionLost, PlgdError
from plgd.paths import Paths
from plgd_lsp.sync import Sync

__all__ = ("Link", "LinkState")

LinkState = Literal["absent", "starting", "connected", "failed"]

CLIENT_NAME: Final = "plgd-lsp"
# Between two looks for a daemon that somebody else may have started; looking costs microseconds.
_LOOK_AGAIN_S: Final = 2.0


class Link:
    """Connects to the daemon and stays connected.

    A daemon that was stopped stays so until an edit needs it; one that somebody starts is found again.

    Args:
        paths: where the daemon's socket is.
        sync: tells the daemon what is open.
        on_state: told of every change of state, with a sentence for a person.
    """

    def __init__(self, paths: Paths, sync: Sync, on_state: Callable[[LinkState, str], None]) -> None:
        self._paths = paths
        self._sync = sync
        self._on_state = on_state
        self._client: Client | None = None
        self._wanted = anyio.Event()
        self._tried = anyio.Event()
        self._error: PlgdError | None = None
        self._is_known = False

    @property
    def connected(self) -> Client | None:
        """The connection, if there is one now."""
        return self._client

    def want(self) -> None:
        """Let the daemon be started; returns at once."""
        self._wanted.set()

    async def client(self) -> Client:
        """Return the connection, and start the daemon when there is none.

        Raises:
            PlgdError: the daemon cannot be started or reached.
        """
        if self._client is None:
            tried = self._tried
            self.want()
            await tried.wait()
        if self._client is None:
            raise self._error or ConnectionLost()
        return self._client

    async def run(self) -> None:
        """Connect whenever it is wanted, for ever."""
        while True:
            may_start = await self._wait_wanted()
            if may_start:
                self._on_state("starting", "The daemon is started.")
            try:
                async with connect(self._paths, client=CLIENT_NAME, start=may_start) as client:
                    await self._stay(client)
            except PlgdError as error:
                # Nobody has asked for it: that none runs is no news.
                if may_start:
                    self._error = error
                    self._on_state("failed", error.message)
            finally:
                self._client = None
                self._end_try()

    async def _stay(self, client: Client) -> None:
        self._client, self._error, self._is_known = client, None, True
        self._end_try()
        self._on_state("connected", "")
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._sync.run, client)
                await client.wait_closed()
                group.cancel_scope.cancel()
        finally:
            # Nothing that is typed from now on is kept for a daemon that may never come.
            self._sync.forget_daemon()
        self._on_state("absent", "The daemon has gone; the next edit starts it.")

    async def _wait_wanted(self) -> bool:
        with anyio.move_on_after(_LOOK_AGAIN_S if self._is_known else None):
            await self._wanted.wait()
        was_wanted = self._wanted.is_set()
        self._wanted = anyio.Event()
        return was_wanted

    def _end_try(self) -> None:
        self._tried.set()
        self._tried = anyio.Event()
