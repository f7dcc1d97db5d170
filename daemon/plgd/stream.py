"""Bytes over a connected Unix socket, for both ends."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Self

import anyio

__all__ = ("Stream",)


class Stream:
    """A connected socket on the event loop of asyncio.

    Its methods raise what anyio's streams raise. anyio's own `UNIXSocketStream` (4.16) is not used: when a reader is
    cancelled in the moment in which data arrives, its callback fails inside the event loop, which then writes a
    traceback to standard error. asyncio's `sock_recv` registers and unregisters the socket for each call, a third of
    what a short request costs; here it stays registered while somebody reads.

    Args:
        connected: the socket; owned from now on.
    """

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self._socket = connected
        self._loop: asyncio.AbstractEventLoop | None = None  # where the socket is registered
        self._waiter: asyncio.Future[None] | None = None
        self._arrived: bytes | OSError | None = None  # what nobody has taken yet
        self._max_bytes = 0

    @classmethod
    def connect(cls, path: Path) -> Self:
        """Connect to a listening socket; never waits.

        Raises:
            OSError: nothing listens there, or too many wait to be accepted.
        """
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            opened.setblocking(False)
            opened.connect(os.fspath(path))
        except BaseException:
            opened.close()
            raise
        return cls(opened)

    @property
    def socket(self) -> socket.socket:
        """The socket, to ask the kernel about it."""
        return self._socket

    async def receive(self, max_bytes: int) -> bytes:
        """Wait for bytes.

        Raises:
            anyio.EndOfStream: the other end has closed.
            anyio.BrokenResourceError: the connection failed.
            anyio.BusyResourceError: somebody else is waiting for them.
        """
        # Always by way of the loop: a peer that sends without pause must not keep everybody else from it.
        if self._waiter is not None:
            raise anyio.BusyResourceError("receiving from")
        loop = asyncio.get_running_loop()
        self._max_bytes = max_bytes
        if self._arrived is None:
            self._waiter = loop.create_future()
            if self._loop is None:
                loop.add_reader(self._socket, self._read)
                self._loop = loop
            try:
                await self._waiter
            finally:
                self._waiter = None
        else:
            await anyio.lowlevel.checkpoint()
        arrived, self._arrived = self._arrived, None
        if isinstance(arrived, OSError):
            raise anyio.BrokenResourceError from arrived
        if not arrived:
            raise anyio.EndOfStream
        return arrived

    def _read(self) -> None:
        """Take what is there for whoever waits. Called by the loop, again and again while nobody takes it."""
        if self._waiter is None or self._waiter.done():
            self._unregister()
            return
        try:
            self._arrived = self._socket.recv(self._max_bytes)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._arrived = error
        self._waiter.set_result(None)

    def _unregister(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._socket)
            self._loop = None

    def send_now(self, data: bytes) -> int:
        """Send what the kernel takes at once and return how many bytes it took; a failure shows in the next `send`."""
        try:
            return self._socket.send(data)
        except OSError:
            return 0

    async def send(self, data: bytes) -> None:
        """Send all bytes; when cancelled, a part may have been sent.

        Raises:
            anyio.BrokenResourceError: the other end has closed, or the connection failed.
        """
        try:
            await asyncio.get_running_loop().sock_sendall(self._socket, data)
        except OSError as error:
            raise anyio.BrokenResourceError from error

    def close(self) -> None:
        """Close the socket; nobody may be receiving or sending."""
        self._unregister()
        self._socket.close()
