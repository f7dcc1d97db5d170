"""Texts that come when nobody waits for them any more."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest
from anyio import to_thread
from starlette.types import Message

from plgd.completions.request import Completion, CompletionResult, CompletionText
from plgd.engine.model import Turn
from plgd.errors import ConnectionLost
from plgd.http.chat import ChatReply
from plgd.http.request import ChatRequest
from plgd.protocol.models import ModelInfo
from plgd.server.completion_feed import CompletionFeed

pytestmark = pytest.mark.anyio

ASKED = ChatRequest(Completion((Turn("user", "Count."),)), named="m", model="m", stream=True, include_usage=False)


class _LateCompleter:
    """Says something more when it is cancelled, as a model does that is in the middle of a round."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def complete(
        self, completion: Completion, model: str | None, on_text: Callable[[str], None]
    ) -> CompletionResult:
        del completion, model
        try:
            self._say("one", on_text)
            await anyio.sleep_forever()
        finally:
            self._say("two", on_text)
        raise AssertionError

    async def models(self) -> tuple[ModelInfo, ...]:
        return ()

    def _say(self, text: str, on_text: Callable[[str], None]) -> None:
        self.said.append(text)
        on_text(text)


async def test_a_client_that_left_hears_nothing_more() -> None:
    """What a model still says when its client has left is dropped, and no failure."""
    completer = _LateCompleter()
    heard = anyio.Event()
    sent: list[bytes] = []

    async def receive() -> Message:
        await heard.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))
        if b"one" in sent[-1]:
            heard.set()

    await ChatReply(completer, ASKED)({"type": "http"}, receive, send)
    assert ["one", "two"] == completer.said
    assert b"two" not in b"".join(sent)


async def test_a_step_that_outlived_its_job_is_not_heard() -> None:
    """A daemon that ends at once answers for a job whose step goes on; what that step says is dropped."""
    heard: list[str] = []
    feed = CompletionFeed("session", heard.append)

    def work() -> None:
        feed.happened(CompletionText("one"))
        feed.ended(ConnectionLost())
        feed.happened(CompletionText("two"))

    await to_thread.run_sync(work)
    await feed.over.wait()
    await anyio.wait_all_tasks_blocked()
    assert ["one"] == heard
