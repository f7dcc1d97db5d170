"""The daemon's life: how many requests it works on, whether it is about to stop, when it has."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from plgd.errors import ShuttingDown

__all__ = ("Lifecycle",)


class Lifecycle:
    """Shared by the connections, the handlers and the daemon; used on the event loop only.

    Attributes:
        n_edits: edits answered since the start.
        n_completions: completions answered since the start.
        n_active: requests under way, those that only wait for the daemon's end not counted.
        stop_requested: set when the daemon is to finish its work and exit.
        hurry_requested: set when it is to exit without finishing its work.
        finished: set when the work is done and the socket is gone.
    """

    def __init__(self) -> None:
        self.n_edits = 0
        self.n_completions = 0
        self.n_active = 0
        self.stop_requested = anyio.Event()
        self.hurry_requested = anyio.Event()
        self.finished = anyio.Event()
        self._started_at = time.monotonic()
        self._last_request_at = self._started_at
        self._quiet = anyio.Event()
        self._quiet.set()
        self._interrupts: set[threading.Event] = set()

    @property
    def uptime_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started_at

    @property
    def idle_s(self) -> float:
        """Seconds without a request; 0 while one is under way."""
        return 0.0 if self.n_active else time.monotonic() - self._last_request_at

    @property
    def stopping(self) -> bool:
        """Whether new work is refused."""
        return self.stop_requested.is_set()

    def check_open(self) -> None:
        """Refuse new work when the daemon is about to stop.

        Raises:
            ShuttingDown: it is.
        """
        if self.stopping:
            raise ShuttingDown

    def note_request(self) -> None:
        """Take note of a request that was answered at once."""
        self._last_request_at = time.monotonic()

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request until it is answered."""
        if not self.n_active:
            self._quiet = anyio.Event()
        self.n_active += 1
        try:
            yield
        finally:
            self.n_active -= 1
            self._last_request_at = time.monotonic()
            if not self.n_active:
                self._quiet.set()

    @contextmanager
    def interruptible(self) -> Iterator[threading.Event]:
        """Make an event for work in a thread; it is set when the block ends or the daemon is about to stop."""
        interrupt = threading.Event()
        self._interrupts.add(interrupt)
        try:
            yield interrupt
        finally:
            interrupt.set()
            self._interrupts.discard(interrupt)

    def request_stop(self, *, drain: bool) -> None:
        """Refuse new work, interrupt what can be resumed later, and let the rest finish if there is time for it."""
        self.stop_requested.set()
        if not drain:
            self.hurry_requested.set()
        for interrupt in self._interrupts:
            interrupt.set()

    async def wait_quiet(self, *, hurry_s: float) -> bool:
        """Wait until no request is under way.

        Args:
            hurry_s: the most to wait once the daemon is not to finish its work.

        Returns:
            Whether it came to that in time.
        """
        is_quiet = False
        async with anyio.create_task_group() as group:

            async def give_up() -> None:
                await self.hurry_requested.wait()
                await anyio.sleep(hurry_s)
                group.cancel_scope.cancel()

            group.start_soon(give_up)
            await self._quiet.wait()
            is_quiet = True
            group.cancel_scope.cancel()
        return is_quiet
