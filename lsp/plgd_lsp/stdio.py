"""Standard input and output as the two ends of a connection."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from typing import BinaryIO, Final

__all__ = ("Reader", "Writer", "claim_stdout")

_READ_BYTES: Final = 1 << 16
# A line of a header; messages themselves are read by their length.
_HEADER_LIMIT: Final = 1 << 16


class Reader:
    """Standard input.

    Args:
        fd: the file descriptor to read.
        output: where the answers go.
    """

    def __init__(self, fd: int, output: BinaryIO) -> None:
        self._fd = fd
        self._output = output
        self._loop = asyncio.get_running_loop()
        self._stream = asyncio.StreamReader(limit=_HEADER_LIMIT)

    async def open(self) -> None:
        """Begin to read."""
        if _is_pipe(self._fd) and not _is_same(self._fd, self._output.fileno()):
            pipe = os.fdopen(self._fd, "rb", buffering=0, closefd=False)
            await self._loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self._stream), pipe)
        else:
            # A file or a terminal cannot be polled, and what answers go to as well must not be made non-blocking. The
            # thread does not keep the process alive.
            threading.Thread(target=self._read, name="plgd-lsp-input", daemon=True).start()

    async def readline(self) -> bytes:
        """Return the next line with its ending, or nothing at the end of input or of a line that is no header's."""
        try:
            return await self._stream.readline()
        except ValueError:
            return b""

    async def readexactly(self, n: int) -> bytes:
        """Return so many bytes, or nothing when the input ends before."""
        try:
            return await self._stream.readexactly(n)
        except asyncio.IncompleteReadError:
            return b""

    def _read(self) -> None:
        data = b"more"
        while data:
            try:
                data = os.read(self._fd, _READ_BYTES)
            except OSError:
                data = b""
            try:
                self._loop.call_soon_threadsafe(self._stream.feed_data if data else self._end, data)
            except RuntimeError:
                return  # the loop has ended before the input

    def _end(self, _data: bytes) -> None:
        self._stream.feed_eof()


class Writer:
    """Standard output, message by message.

    Args:
        file: where to write.

    Attributes:
        closed: set when nobody reads any more.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.closed = asyncio.Event()

    def write(self, data: bytes) -> None:
        """Write a message; after the reader has gone, nothing."""
        if self.closed.is_set():
            return
        try:
            self._file.write(data)
            self._file.flush()
        except OSError:
            self.closed.set()

    def close(self) -> None:
        """Leave the file to whoever opened it."""


def _is_pipe(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _is_same(fd: int, other: int) -> bool:
    return os.path.samestat(os.fstat(fd), os.fstat(other))


def claim_stdout() -> BinaryIO:
    """Take standard output for messages alone: what anything else prints goes to standard error."""
    sys.stdout.flush()
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return own
