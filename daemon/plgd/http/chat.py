"""Answers a chat completion, in one piece or as it comes; a client that leaves cancels it."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from plgd.completions.request import CompletionResult
from plgd.errors import PlgdError
from plgd.http.bodies import ReplyBodies, encode
from plgd.http.completer import Completer
from plgd.http.errors import error_body, error_response, refusal_of
from plgd.http.request import ChatRequest

__all__ = ("ChatReply",)

_EVENTS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
]


class ChatReply:
    """An application that answers one request, whose body has been read.

    Args:
        completer: writes the reply.
        asked: the request.
    """

    def __init__(self, completer: Completer, asked: ChatRequest) -> None:
        self._completer = completer
        self._asked = asked
        self._bodies = ReplyBodies(asked.named)
        self._outcome: CompletionResult | PlgdError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; returns early when the client leaves."""
        async with anyio.create_task_group() as group:

            async def watch_client() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(watch_client)
            texts_in, texts = anyio.create_memory_object_stream[str](math.inf)

            def hear(text: str) -> None:
                # A client that has left hears nothing more, but the model stops only after its round.
                with suppress(anyio.BrokenResourceError):
                    texts_in.send_nowait(text)

            async def run() -> None:
                with texts_in:
                    try:
                        self._outcome = await self._completer.complete(self._asked.completion, self._asked.model, hear)
                    except PlgdError as error:
                        self._outcome = error

            group.start_soon(run)
            with texts:
                response = await (self._stream(texts, send) if self._asked.stream else self._wait(texts))
            if response is not None:
                await response(scope, receive, send)
            group.cancel_scope.cancel()

    async def _wait(self, texts: MemoryObjectReceiveStream[str]) -> Response:
        """Wait for the whole reply and return the response."""
        async for _ in texts:
            pass
        match self._outcome:
            case CompletionResult() as result:
                return Response(encode(self._bodies.whole(result)), media_type="application/json")
            case PlgdError() as error:
                return error_response(refusal_of(error))
        raise RuntimeError("the reply ended without an outcome")

    async def _stream(self, texts: MemoryObjectReceiveStream[str], send: Send) -> Response | None:
        """Send the reply as it comes; what fails before its first text is a response with an honest status."""
        bodies = self._bodies
        events = _Events(send)
        async for text in texts:
            if not events.begun:
                await events.send(bodies.chunk({"role": "assistant", "content": ""}))
            await events.send(bodies.chunk({"content": text}))
        match self._outcome:
            case CompletionResult() as result:
                if not events.begun:
                    await events.send(bodies.chunk({"role": "assistant", "content": ""}))
                await events.send(bodies.chunk({}, result.finish))
                if self._asked.include_usage:
                    await events.send(bodies.usage_chunk(result))
                await events.finish()
            case PlgdError() as error if events.begun:
                await events.send(error_body(refusal_of(error)))
                await events.finish()
            case PlgdError() as error:
                return error_response(refusal_of(error))
        return None


class _Events:
    """Server-sent events."""

    def __init__(self, send: Send) -> None:
        self.begun = False
        self._send = send

    async def send(self, body: object) -> None:
        """Send a body as an event."""
        if not self.begun:
            self.begun = True
            await self._send({"type": "http.response.start", "status": 200, "headers": _EVENTS})
        await self._write(encode(body), more=True)

    async def finish(self) -> None:
        """Send the last event."""
        await self._write(b"[DONE]", more=False)

    async def _write(self, data: bytes, *, more: bool) -> None:
        await self._send({"type": "http.response.body", "body": b"data: " + data + b"\n\n", "more_body": more})
