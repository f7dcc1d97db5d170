"""Requests with an idempotency key: carried out once, however often they are made."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

import anyio
import msgspec
from anyio import to_thread

from plgd.errors import KeyReused, WriteFailed
from plgd.protocol import envelope
from plgd.protocol.methods import Method
from plgd.server.kept_replies import KeptReplies, Promised

__all__ = ("Promise", "Repeats")

ParamsT = TypeVar("ParamsT", bound=msgspec.Struct)
ResultT = TypeVar("ResultT", bound=msgspec.Struct)

# Told the result and the files that are about to be written for it, on the worker's thread.
Promise = Callable[[msgspec.Struct, Sequence[Promised]], None]

_ENCODER: Final = msgspec.json.Encoder(order="deterministic")
_LOG: Final = logging.getLogger(__name__)


class Repeats:
    """Gives a repeated request the reply of the first; used on the event loop only.

    Args:
        replies: those of the last hour.
    """

    def __init__(self, replies: KeptReplies) -> None:
        self._replies = replies
        self._running: dict[str, tuple[str, anyio.Event]] = {}

    async def once(
        self,
        method: Method[ParamsT, ResultT],
        params: ParamsT,
        key: str | None,
        run: Callable[[Promise], Awaitable[ResultT]],
        *,
        keeps: Callable[[ResultT], bool],
    ) -> ResultT:
        """Carry out a request, or return the kept reply; without a key, just carry it out.

        A request whose first run is still going waits for it. An error is no reply: the next request with the key is
        carried out.

        Args:
            method: what is asked.
            params: with its parameters.
            key: the client's.
            run: carries it out; calls what it is given before it writes a file.
            keeps: tells whether a result is worth keeping.

        Raises:
            KeyReused: the key came with another request, or another version's reply cannot be read.
            Conflict: a daemon died in the middle of the first run, and the file has a third text now.
            WriteFailed: the disk could not take the reply, so nothing was written.
        """
        if key is None:
            return await run(lambda _result, _files: None)
        request = _digest(method.name, params)
        while (running := self._running.get(key)) is not None:
            if running[0] != request:
                raise KeyReused.of(key)
            await running[1].wait()
        over = anyio.Event()
        self._running[key] = request, over
        try:
            return await self._once(method, key, request, run, keeps)
        finally:
            del self._running[key]
            over.set()

    async def _once(
        self,
        method: Method[ParamsT, ResultT],
        key: str,
        request: str,
        run: Callable[[Promise], Awaitable[ResultT]],
        keeps: Callable[[ResultT], bool],
    ) -> ResultT:
        found = await to_thread.run_sync(self._replies.find, key, request)
        if found is not None:
            _LOG.info("%s was repeated; its reply is the kept one", method.name)
            try:
                return msgspec.json.decode(found, type=method.result)
            except msgspec.ValidationError as error:
                raise KeyReused.by_another_version(key) from error

        def promise(result: msgspec.Struct, files: Sequence[Promised]) -> None:
            try:
                self._replies.keep(key, request, envelope.encode_result(result), files)
            except OSError as error:
                raise WriteFailed.at(
                    os.fsdecode(files[0].path), f"its reply cannot be kept ({error.strerror})"
                ) from error

        try:
            result = await run(promise)
        except WriteFailed:
            await to_thread.run_sync(self._replies.forget, key)
            raise
        if keeps(result):
            # What was done is remembered, also when the client has gone meanwhile.
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._keep, key, request, envelope.encode_result(result))
        return result

    def _keep(self, key: str, request: str, reply: bytes) -> None:
        try:
            self._replies.keep(key, request, reply)
        except OSError as error:
            # A promise, if there was one, is on disk and was kept. Else nothing was done that a repeat would double.
            _LOG.warning("a reply cannot be kept (%s)", error.strerror)


def _digest(method: str, params: msgspec.Struct) -> str:
    # Tokens are the keys of `logit_bias`; only keys that are text can be put in order.
    values = msgspec.to_builtins(params, str_keys=True)
    return hashlib.sha256(method.encode() + b"\0" + _ENCODER.encode(values)).hexdigest()
