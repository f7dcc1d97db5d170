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
    traceback to standard error; asyncio's socket calls look first.

    Args:
        connected: the socket; owned from now on.
    """

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self._socket = connected

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
        """
        # A peer that sends without pause must not keep everybody else from the loop.
        await anyio.lowlevel.checkpoint()
        try:
            data = await asyncio.get_running_loop().sock_recv(self._socket, max_bytes)
        except OSError as error:
            raise anyio.BrokenResourceError from error
        if not data:
            raise anyio.EndOfStream
        return data

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
        self._socket.close()
