"""Bytes in, lines out: one message per line. No I/O; both ends of the socket use it."""

from __future__ import annotations

from plgd.errors import FrameTooLarge

__all__ = ("Splitter",)


class Splitter:
    r"""Cuts a stream of bytes into lines.

    JSON never contains a raw line feed, so `\n` ends a message. Blank lines are skipped and a carriage return before
    the line feed is allowed, so that a person can type messages with common tools.

    Args:
        limit: bytes that a line may have, its end not counted.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._searched = 0  # bytes at the buffer's start that hold no line feed; a long line is scanned once

    def feed(self, data: bytes) -> None:
        """Append what arrived."""
        self._buffer += data

    def next_line(self) -> bytes | None:
        """Take the next whole line off the buffer; `None` when more bytes are needed.

        Raises:
            FrameTooLarge: the line is longer than the limit, whether or not its end has arrived. The stream cannot
                be read any further.
        """
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end < 0:
                # One byte more than the limit may be the carriage return of an allowed line.
                if len(self._buffer) > self._limit + 1:
                    raise FrameTooLarge.of(self._limit)
                self._searched = len(self._buffer)
                return None
            line = bytes(self._buffer[:end]).removesuffix(b"\r")
            if len(line) > self._limit:
                raise FrameTooLarge.of(self._limit)
            del self._buffer[: end + 1]
            self._searched = 0
            if line.strip():
                return line
