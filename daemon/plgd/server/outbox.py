"""What a connection has yet to send, within a bound."""

from __future__ import annotations

from collections import deque

import anyio

from plgd.stream import Stream

__all__ = ("Outbox",)


class Outbox:
    """Takes lines at once and sends them as fast as the client reads.

    While nothing waits, a line goes to the kernel in the call that puts it.

    Args:
        limit: bytes that may wait; a client that lets more pile up has stopped reading and is given up.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lines: deque[bytes] = deque()
        self._n_bytes = 0
        self._changed = anyio.Event()
        self._idle: Stream | None = None  # where `send_to` would send if there were anything to send
        self._closed = False
        self.overflowed = False

    def put(self, line: bytes) -> None:
        """Append a line. A line always fits when nothing waits; after an overflow or the close it is dropped."""
        if self._closed:
            return
        if self._n_bytes and self._n_bytes + len(line) > self._limit:
            self.overflowed = True
            self.close()
            return
        if self._idle is not None:
            n_sent = self._idle.send_now(line)
            if n_sent == len(line):
                return
            line, self._idle = line[n_sent:], None
        self._lines.append(line)
        self._n_bytes += len(line)
        self._changed.set()

    def close(self) -> None:
        """Take no more lines; `send_to` returns when those that wait are sent."""
        self._closed = True
        self._changed.set()

    async def send_to(self, stream: Stream) -> None:
        """Send until the outbox is closed and empty, or has overflowed.

        Raises:
            anyio.BrokenResourceError: the client is gone.
        """
        while not self.overflowed:
            if self._lines:
                data = b"".join(self._lines)
                self._lines.clear()
                await stream.send(data)
                self._n_bytes -= len(data)
            elif self._closed:
                return
            else:
                self._changed, self._idle = anyio.Event(), stream
                try:
                    await self._changed.wait()
                finally:
                    self._idle = None
