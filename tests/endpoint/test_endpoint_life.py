"""The endpoint's life: how it comes and goes with the daemon, and what becomes of clients that leave."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import socket
import stat
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import anyio
import httpx2
import openai
import pytest
from anyio import to_thread
from openai.types.chat import ChatCompletionChunk

from doubles import ScriptedTarget
from endpoint.talking import REPLY, TOKEN, answering, bare_client, openai_client
from plgd.config import Config, DaemonConfig, EngineConfig, HttpConfig
from plgd.engine.kept import KeepingTarget
from plgd.engine.sampling import GREEDY, Sampling
from plgd.errors import ConfigError, EngineError
from plgd.http.token import keep_token
from plgd.paths import Paths
from plgd.server.app import Daemon
from scripted_model import EOS, ScriptedModel
from server.conversation import wire
from server.machine import PATIENCE_S, Gate, GatedModel, Machine, Shelf

pytestmark = pytest.mark.anyio

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Count."}]}
PATH = "/chat/completions"
# Nobody waits for its end.
ENDLESS = " ".join(map(str, range(200_000)))
PLAIN = EngineConfig(policy="off")


def make_daemon(paths: Paths, http: HttpConfig) -> Daemon:
    """Make a daemon that is not served."""
    return Daemon(Config(http=http), paths, Machine, lambda: Shelf("m"))


async def wait_quiet(daemon: Daemon) -> None:
    """Wait until the daemon works on no request."""
    with anyio.fail_after(PATIENCE_S):
        assert await daemon._lifecycle.wait_quiet(hurry_s=PATIENCE_S)


def n_said(model: ScriptedModel) -> int:
    """Return how many tokens a model has said."""
    return sum(target.offset for target in model.targets)


async def test_by_default_there_is_no_endpoint(paths: Paths) -> None:
    """Nothing listens on the network unless the user wants it, and no token is made."""
    assert make_daemon(paths, HttpConfig()).http is None
    assert not paths.http_token.exists()


async def test_a_client_that_leaves_a_stream_cancels_it(paths: Paths) -> None:
    """When the client goes, the model stops."""
    model = ScriptedModel(ENDLESS)
    async with answering(paths, model, engine=PLAIN) as daemon:
        async with bare_client(daemon) as client, client.stream("POST", PATH, json=ASKED | {"stream": True}) as reply:
            async for _ in reply.aiter_lines():
                break
        await wait_quiet(daemon)
    assert n_said(model) < len(ENDLESS)


async def test_the_status_tells_completions_from_edits(paths: Paths) -> None:
    """A completion is a request under way, then a completion that was answered, and never an edit."""
    gate = Gate(is_open=False)
    async with answering(paths, GatedModel(REPLY, gate)) as daemon, bare_client(daemon) as client, wire(paths) as other:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: client.post(PATH, json=ASKED))
            await to_thread.run_sync(gate.wait_reached)
            await other.ask(1, "status")
            busy = (await other.answer(1))["result"]
            gate.open()
        await other.ask(2, "status")
        quiet = (await other.answer(2))["result"]
    assert ("Working on 1 request, 0 waiting.", ["a completion"]) == (
        busy["message"],
        [job["name"] for job in busy["jobs"]],
    )
    assert [(0, 0), (0, 1)] == [(status["n_edits"], status["n_completions"]) for status in (busy, quiet)]


async def test_a_client_that_leaves_before_the_reply_cancels_it(paths: Paths) -> None:
    """A reply in one piece is cancelled as well when nobody waits for it any more."""
    begun = threading.Event()
    model = ScriptedModel(ENDLESS, on_target=begun.set)
    async with answering(paths, model, engine=PLAIN) as daemon, bare_client(daemon) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: client.post(PATH, json=ASKED))
            assert await to_thread.run_sync(begun.wait, PATIENCE_S)
            group.cancel_scope.cancel()
        await wait_quiet(daemon)
    assert n_said(model) < len(ENDLESS)


@pytest.mark.parametrize(
    "said",
    [b"", b"GET /v1/models HTTP/1.1\r\nHost: 127", b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /v1"],
    ids=["nothing", "half a header", "half a second header"],
)
async def test_a_client_that_asks_nothing_is_given_up(
    paths: Paths, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who connects and does not finish a header is cut off, so that nobody without the token keeps others out."""
    monkeypatch.setattr("plgd.http.patience.HEADER_TIMEOUT_S", 0.05)
    http = HttpConfig(enabled=True, port=0, token=TOKEN, connection_limit=1)
    async with answering(paths, http=http) as daemon, bare_client(daemon) as client:
        async with await anyio.connect_tcp("127.0.0.1", client.base_url.port or 0) as stream:
            await stream.send(said)
            with anyio.fail_after(PATIENCE_S), contextlib.suppress(anyio.EndOfStream):
                while True:
                    await stream.receive()
        assert 200 == (await client.post(PATH, json=ASKED)).status_code


@pytest.mark.parametrize(
    "said",
    [
        b"\xff" * 100 + b"\r\n\r\n",
        b"GET /v1/models HTTP/9\r\n\r\n",
        b"GET /v1/models HTTP/1.1\r\nA: " + b"a" * 2**20 + b"\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n\r\n',
    ],
    ids=["binary", "another version", "a long header", "a length below nothing", "another protocol"],
)
async def test_what_is_no_request_is_refused(paths: Paths, said: bytes) -> None:
    """Bytes that are no request get an error or the end of their connection, and the next client is served."""
    async with answering(paths) as daemon, bare_client(daemon) as client:
        async with await anyio.connect_tcp("127.0.0.1", client.base_url.port or 0) as stream:
            heard = b""
            with anyio.fail_after(PATIENCE_S), contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                await stream.send(said)
                while True:
                    heard += await stream.receive()
        assert heard.startswith((b"HTTP/1.1 4", b"HTTP/1.1 501")) or not heard
        assert 200 == (await client.post(PATH, json=ASKED)).status_code


async def test_clients_are_bounded(paths: Paths) -> None:
    """As many clients as configured are served, and the next one hears that there are too many."""
    http = HttpConfig(enabled=True, port=0, token=TOKEN, connection_limit=2)
    async with answering(paths, http=http) as daemon, bare_client(daemon) as client, bare_client(daemon) as late:
        silent = await anyio.connect_tcp("127.0.0.1", client.base_url.port or 0)
        async with silent:
            assert 200 == (await client.post(PATH, json=ASKED)).status_code
            assert 503 == (await late.post(PATH, json=ASKED)).status_code


async def test_a_full_queue(paths: Paths) -> None:
    """When as many requests wait as the daemon takes, the next is told to come again; afterwards it is welcome."""
    http, limits = HttpConfig(enabled=True, port=0, token=TOKEN), DaemonConfig(queue_limit=1)
    async with (
        answering(paths, ScriptedModel(ENDLESS), http=http, engine=PLAIN, limits=limits) as daemon,
        bare_client(daemon) as client,
    ):
        async with client.stream("POST", PATH, json=ASKED | {"stream": True}) as reply:
            lines = reply.aiter_lines()
            assert "data: " in await anext(lines)
            refused = await client.post(PATH, json=ASKED)
        await wait_quiet(daemon)
        welcome = await client.post(PATH, json=ASKED | {"max_tokens": 1})
    assert (429, "1") == (refused.status_code, refused.headers["retry-after"])
    assert "rate_limit_error" == refused.json()["error"]["type"]
    assert 200 == welcome.status_code


async def test_a_daemon_that_stops_finishes_the_reply(paths: Paths) -> None:
    """What is under way is answered in full, what comes then is refused, and then the port is free."""
    gate = Gate(is_open=False)
    replies: list[httpx2.Response] = []
    async with answering(paths, GatedModel(REPLY, gate)) as daemon, bare_client(daemon) as client:

        async def ask() -> None:
            replies.append(await client.post(PATH, json=ASKED))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await to_thread.run_sync(gate.wait_reached)
            daemon.request_stop(drain=True)
            refused = await client.post(PATH, json=ASKED)
            gate.open()
        port = client.base_url.port
    assert (503, "shutting_down") == (refused.status_code, refused.json()["error"]["code"])
    assert [REPLY] == [reply.json()["choices"][0]["message"]["content"] for reply in replies]
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.1", port))


async def test_a_daemon_in_a_hurry_says_so(paths: Paths) -> None:
    """A daemon that does not finish its work answers nevertheless."""
    begun = threading.Event()
    model = ScriptedModel(ENDLESS, on_target=begun.set)
    replies: list[httpx2.Response] = []
    async with answering(paths, model, engine=PLAIN) as daemon, bare_client(daemon) as client:

        async def ask() -> None:
            replies.append(await client.post(PATH, json=ASKED))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            assert await to_thread.run_sync(begun.wait, PATIENCE_S)
            daemon.request_stop(drain=False)
    assert [503] == [reply.status_code for reply in replies]


class _BrokenTarget(ScriptedTarget):
    """Fails in the middle of the reply."""

    n_left = 5

    def advance(self) -> int:
        self.n_left -= 1
        if not self.n_left:
            raise EngineError("The model broke.")
        return super().advance()

    def verify(self, draft: Sequence[int]) -> Sequence[int]:
        del draft
        return [self.advance()]


class _BrokenModel(ScriptedModel):
    """Its replies fail."""

    def target(self, sampling: Sampling = GREEDY) -> KeepingTarget:
        del sampling
        return _BrokenTarget(self.tokenizer.encode(REPLY), end=EOS, context_limit=self.context_limit)


async def test_a_model_that_fails(paths: Paths) -> None:
    """A failure is the client's own error, in the middle of a stream too, and never looks like the reply's end."""
    async with answering(paths, _BrokenModel(REPLY), engine=PLAIN) as daemon, openai_client(daemon) as client:
        with pytest.raises(openai.InternalServerError):
            await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Count."}])
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Count."}], stream=True
        )
        chunks: deque[ChatCompletionChunk] = deque()

        async def collect() -> None:
            async for chunk in stream:
                chunks.append(chunk)

        with pytest.raises(openai.APIError, match="The model broke"):
            await collect()
    got = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert {None} == {chunk.choices[0].finish_reason for chunk in chunks}
    assert got
    assert REPLY.startswith(got)


async def test_the_token_is_made_once_and_kept(paths: Paths) -> None:
    """Without a token in the configuration one is made for its owner alone, and the next daemon has the same."""
    http = HttpConfig(enabled=True, port=0)
    for _ in range(2):
        async with answering(paths, http=http) as daemon:
            token = paths.http_token.read_text().strip()
            async with openai_client(daemon, token) as client:
                assert ["m"] == [model.id async for model in client.models.list()]
    assert len(token) >= 32
    assert 0o600 == stat.S_IMODE(paths.http_token.stat().st_mode)


@pytest.mark.parametrize("flaw", ["open", "short", "binary", "folder", "link"])
async def test_a_token_that_cannot_be_trusted_is_refused(paths: Paths, tmp_path: Path, flaw: str) -> None:
    """A token's file that others may read, or that holds no token, stops the daemon with a message that names it."""
    keep_token(paths.http_token)
    file = paths.http_token
    if flaw == "open":
        file.chmod(0o640)
    elif flaw == "short":
        file.write_text("short\n")
    elif flaw == "binary":
        file.write_bytes(bytes(range(256)))
    else:
        file.unlink()
        if flaw == "folder":
            file.mkdir()
        else:
            file.symlink_to(tmp_path / "elsewhere")
            (tmp_path / "elsewhere").write_text("x" * 32)
            (tmp_path / "elsewhere").chmod(0o600)
    with pytest.raises(ConfigError, match="http-token"):
        make_daemon(paths, HttpConfig(enabled=True, port=0))


async def test_a_token_that_does_not_fit_on_the_disk(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk leaves no half a token behind: when there is room, the next start makes a whole one."""

    def fill_up(descriptor: int, *_: str, **__: str) -> None:
        os.close(descriptor)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("plgd.http.token.open", fill_up, raising=False)
        with pytest.raises(ConfigError, match="No space left"):
            make_daemon(paths, HttpConfig(enabled=True, port=0))
    assert len(keep_token(paths.http_token)) >= 32


async def test_a_port_that_is_taken(paths: Paths) -> None:
    """Another program on the port stops the daemon with a message that names the key."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(ConfigError, match=r"`http\.port`"):
            make_daemon(paths, HttpConfig(enabled=True, port=other.getsockname()[1], token=TOKEN))


async def test_without_the_extra(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the libraries are missing, the message says how to get them."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"extra `http`.*pip install -e '\.\[http\]'"):
        make_daemon(paths, HttpConfig(enabled=True, port=0))
