"""Neovim's own protocol: MessagePack-RPC over the pipes of a process."""

from __future__ import annotations

import os
import select
import subprocess
from itertools import count
from typing import Any, Final

import msgpack

__all__ = ("Connection", "NeovimError")

# Bounds every request; never what a passing test waits for.
_PATIENCE_S: Final = 90.0
_REQUEST: Final = 0
_ANSWER: Final = 1


class NeovimError(Exception):
    """Neovim answered a request with an error."""


class Connection:
    """A process that answers requests, one at a time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._write, self._read = process.stdin, process.stdout
        self._messages = msgpack.Unpacker()
        self._ids = count()

    def request(self, method: str, *arguments: object) -> Any:  # noqa: ANN401  # whatever the method returns
        """Call an API function.

        Raises:
            NeovimError: it failed; with Neovim's own words.
        """
        request_id = next(self._ids)
        self._write.write(msgpack.packb([_REQUEST, request_id, method, arguments]))
        self._write.flush()
        while True:
            for message in self._messages:
                if message[:2] == [_ANSWER, request_id]:
                    if message[2] is not None:
                        raise NeovimError(message[2][1])
                    return message[3]
            readable, _, _ = select.select([self._read], [], [], _PATIENCE_S)
            assert readable, f"no answer to {method} {arguments}"
            data = os.read(self._read.fileno(), 1 << 16)
            assert data, f"Neovim ended in {method} {arguments}"
            self._messages.feed(data)
