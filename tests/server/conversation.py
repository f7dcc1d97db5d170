"""A daemon in the test's own event loop, on a real socket, and a client that speaks bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any

import anyio
import msgspec

from plgd.config import Config
from plgd.paths import Paths
from plgd.protocol.daemon import PROTOCOL_VERSION
from plgd.server.app import Daemon
from plgd.server.instance import single_instance
from plgd.stream import Stream
from plgd.version import __version__
from server.machine import PATIENCE_S, Machine, Shelf

__all__ = ("Wire", "serving", "wire")


@asynccontextmanager
async def serving(
    paths: Paths, machine: Machine, shelf: Shelf | None = None, config: Config | None = None
) -> AsyncIterator[Daemon]:
    """Serve on the user's socket until the block ends; every thread of the daemon has ended then."""
    models = shelf or Shelf("m")
    with single_instance(paths) as instance:
        daemon = Daemon(config or Config(), paths, lambda: machine, lambda: models)
        async with anyio.create_task_group() as group:
            group.start_soon(daemon.serve, instance)
            try:
                yield daemon
            finally:
                machine.load_gate.open()
                models.pull_gate.open()
                daemon.request_stop(drain=False)


class Wire:
    """A client that sends and reads bytes as they are."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._buffer = b""

    async def send(self, *lines: bytes) -> None:
        """Send lines, each with its end."""
        await self.stream.send(b"".join(line + b"\n" for line in lines))

    async def ask(self, request_id: int | str, method: str, params: object = None) -> None:
        """Send a request."""
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        await self.send(msgspec.json.encode(message if params is None else message | {"params": params}))

    async def note(self, method: str, params: object) -> None:
        """Send a notification."""
        await self.send(msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params}))

    async def read(self) -> dict[str, Any]:
        """Return the next message."""
        with anyio.fail_after(PATIENCE_S):
            while b"\n" not in self._buffer:
                self._buffer += await self.stream.receive(65536)
        line, _, self._buffer = self._buffer.partition(b"\n")
        return msgspec.json.decode(line, type=dict[str, Any])

    async def answer(self, request_id: int | str | None) -> dict[str, Any]:
        """Return the answer to a request; what comes before it is skipped."""
        while True:
            message = await self.read()
            if "method" not in message and message["id"] == request_id:
                return message

    async def error(self, request_id: int | str | None) -> tuple[int, str]:
        """Return the code and message of a refusal."""
        error = (await self.answer(request_id))["error"]
        return error["code"], error["message"]

    async def note_of(self, method: str, **fields: object) -> dict[str, Any]:
        """Return the next notification of a kind whose parameters include some values."""
        while True:
            message = await self.read()
            if message.get("method") == method and message["params"].items() >= fields.items():
                return dict(message["params"])

    async def closed(self) -> bool:
        """Wait until the daemon has ended the connection."""
        with anyio.fail_after(PATIENCE_S):
            while True:
                try:
                    await self.stream.receive(65536)
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return True


@asynccontextmanager
async def wire(paths: Paths, *, hello: bool = True) -> AsyncIterator[Wire]:
    """Connect, and introduce the client unless the test is about that."""
    with closing(Stream.connect(paths.socket)) as stream:
        client = Wire(stream)
        if hello:
            await client.ask("hello", "hello", {"protocol": PROTOCOL_VERSION, "version": __version__})
            assert "result" in await client.answer("hello")
        yield client
