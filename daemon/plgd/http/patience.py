"""Gives up clients that connect and do not ask: they would keep others out, and need no token for it."""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ("PatientProtocol",)

# A client on this machine has its header ready.
HEADER_TIMEOUT_S: Final = 15.0


class PatientProtocol(H11Protocol):
    """The server's end of a connection, closed when a request's header does not come in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the server's own
        """Wait for the first header."""
        super().connection_made(transport)
        self._expect_header()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next header, where the connection stays."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._expect_header()

    def _expect_header(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(HEADER_TIMEOUT_S, self._give_up)

    def _give_up(self) -> None:
        is_idle: bool = getattr(self.cycle, "response_complete", True)  # before the first request there is no cycle
        if is_idle and not self.transport.is_closing():
            self.transport.close()
