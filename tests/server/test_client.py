"""The client that front ends use, against the real daemon."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from plgd.client import Client, connect
from plgd.config import Config, DaemonConfig
from plgd.errors import (
    ConnectionLost,
    DaemonUnreachable,
    FileMissing,
    FrameTooLarge,
    SocketPathTooLong,
    VersionMismatch,
)
from plgd.paths import SOCKET_PATH_LIMIT, Paths
from plgd.protocol import envelope
from plgd.protocol.base import NoParams
from plgd.protocol.daemon import PingResult, StopParams
from plgd.protocol.edits import EditDelta, EditMode, EditParams, EditProgress, EditStatus
from plgd.protocol.framing import Splitter
from plgd.protocol.methods import EDIT, MODEL_USE, PING, STATUS, STOP
from plgd.protocol.models import ModelParams
from plgd.server.instance import single_instance
from scripted_model import ScriptedModel
from server.conversation import serving
from server.machine import PATIENCE_S, Gate, GatedModel, Machine, Shelf

pytestmark = pytest.mark.anyio

SOURCE = "total = 1\n"
REPLY = "subtotal = 1\n```\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file to edit."""
    path = tmp_path / "sum.py"
    path.write_text(SOURCE)
    return path


def edit_of(path: Path) -> EditParams:
    """Return an edit that is applied."""
    return EditParams(instruction="rename", path=str(path), mode=EditMode.APPLY)


@asynccontextmanager
async def connected(paths: Paths) -> AsyncIterator[Client]:
    """Connect to the daemon that runs."""
    async with connect(paths, client="test", start=False) as client:
        yield client


async def test_results_and_notifications_are_typed(paths: Paths, source: Path) -> None:
    """A call returns the method's result; its notifications came before, decoded and in order."""
    heard: list[msgspec.Struct] = []
    async with serving(paths, Machine(m=ScriptedModel(REPLY))), connected(paths) as client:
        result = await client.call(EDIT, edit_of(source), heard.append)
        assert result.status is EditStatus.APPLIED
        assert "".join(note.text for note in heard if isinstance(note, EditDelta)) == "subtotal = 1\n"
        assert any(isinstance(note, EditProgress) for note in heard)
        n_heard = len(heard)
        assert PingResult() == await client.call(PING, NoParams())
        assert n_heard == len(heard)


async def test_calls_run_side_by_side(paths: Paths, source: Path) -> None:
    """While an edit runs, the same connection answers other calls."""
    gate = Gate(is_open=False)
    async with (
        serving(paths, Machine(m=GatedModel(REPLY, gate))),
        connected(paths) as client,
        anyio.create_task_group() as group,
    ):
        group.start_soon(client.call, EDIT, edit_of(source))
        await anyio.to_thread.run_sync(gate.wait_reached)
        assert (await client.call(STATUS, NoParams())).state == "busy"
        gate.open()


async def test_a_refusal_is_raised_as_what_it_is(paths: Paths) -> None:
    """The daemon's exception arrives as the same class, outside of any group, and the connection goes on."""
    async with serving(paths, Machine()), connected(paths) as client:
        with pytest.raises(FileMissing, match="/no/such/file"):
            await client.call(EDIT, EditParams(instruction="x", path="/no/such/file"))
        assert PingResult() == await client.call(PING, NoParams())


async def test_an_exception_of_the_caller_passes_unwrapped(paths: Paths) -> None:
    """What a front end raises while it is connected is what its own caller catches."""

    async def fail() -> None:
        async with connected(paths) as client:
            await client.call(PING, NoParams())
            raise KeyError

    async with serving(paths, Machine()):
        with pytest.raises(KeyError):
            await fail()


async def test_an_exception_of_the_callback_ends_its_call_only(paths: Paths, source: Path) -> None:
    """A front end's mistake in a callback is raised from its call, and other calls go on."""

    def broken(_note: msgspec.Struct) -> None:
        raise ZeroDivisionError

    async with serving(paths, Machine(m=ScriptedModel(REPLY))), connected(paths) as client:
        with pytest.raises(ZeroDivisionError):
            await client.call(EDIT, edit_of(source), broken)
        assert PingResult() == await client.call(PING, NoParams())


async def test_a_cancelled_call_cancels_the_request(paths: Paths, tmp_path: Path, source: Path) -> None:
    """When the caller is cancelled the daemon drops the edit, and the connection can be used further."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), connected(paths) as client:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call, EDIT, edit_of(source))
                await anyio.to_thread.run_sync(gate.wait_reached)
                scope.cancel()
        assert scope.cancelled_caught
        # Answered after the cancel was read: the connection is served in order.
        assert PingResult() == await client.call(PING, NoParams())
        gate.open()
        # The next edit comes after the end of the cancelled one.
        other = tmp_path / "other.py"
        await anyio.Path(other).write_text(SOURCE)
        assert (await client.call(EDIT, edit_of(other))).status is EditStatus.APPLIED
    assert SOURCE == await anyio.Path(source).read_text()


async def test_without_a_daemon_the_client_says_how_to_start_one(paths: Paths) -> None:
    """A client that may not start the daemon names the command that does."""
    with pytest.raises(DaemonUnreachable, match="plgd start"):
        async with connected(paths):
            pass


@pytest.mark.parametrize("start", [True, False])
async def test_a_socket_path_that_is_too_long_is_said_before_anything(
    start: bool, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No daemon is started that could not listen."""
    monkeypatch.setenv("PLGD_RUNTIME_DIR", f"/tmp/{'x' * SOCKET_PATH_LIMIT}")  # noqa: S108  # nothing is created there
    del paths
    with pytest.raises(SocketPathTooLong, match="shorter folder"):
        async with connect(Paths.from_environment(), client="test", start=start):
            pass


async def test_calls_fail_when_the_daemon_goes_away(paths: Paths, source: Path) -> None:
    """A waiting call and every later one raise `ConnectionLost`; nobody waits for ever."""
    shelf = Shelf("m")
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate)), shelf) as daemon, connected(paths) as client:
        await client.call(MODEL_USE, ModelParams(name="m"))
        async with anyio.create_task_group() as group:

            async def edit() -> None:
                with pytest.raises(ConnectionLost, match="went away before it answered; see `plgd logs`"):
                    await client.call(EDIT, edit_of(source))

            group.start_soon(edit)
            await anyio.to_thread.run_sync(gate.wait_reached)
            for connection in daemon._connections:
                connection._whole.cancel()
                connection._stream.socket.shutdown(socket.SHUT_RDWR)
        with pytest.raises(ConnectionLost):
            await client.call(PING, NoParams())
        gate.open()


async def test_a_request_that_is_too_large_is_said_to_be(paths: Paths) -> None:
    """A text past the daemon's limit is answered with the limit, not with a lost connection."""
    config = Config(daemon=DaemonConfig(frame_limit=4096))
    async with serving(paths, Machine(), config=config), connected(paths) as client:
        with pytest.raises(FrameTooLarge, match="4,096 bytes"):
            await client.call(EDIT, EditParams(instruction="x", text="y" * 5000))


async def test_after_stop_the_next_call_finds_nobody(paths: Paths) -> None:
    """`stop` is answered; then the connection is over."""
    async with serving(paths, Machine()), connected(paths) as client:
        await client.call(STOP, StopParams())
        with anyio.fail_after(PATIENCE_S):
            await client.wait_closed()
    with pytest.raises(DaemonUnreachable):
        async with connected(paths):
            pass


async def test_a_daemon_that_does_not_answer_is_named(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped or hanging process behind the socket is an error with its process id, not a wait without end."""
    monkeypatch.setattr("plgd.client._HELLO_TIMEOUT_S", 0.0)
    with single_instance(paths), pytest.raises(DaemonUnreachable, match=f"process {os.getpid()}.*does not answer"):
        async with connected(paths):
            pass


async def answer_hello(listener: socket.socket, *answers: bytes) -> None:
    """Be a daemon that answers the first request with given lines and then hangs up."""
    listener.setblocking(False)
    await anyio.wait_readable(listener)
    accepted, _ = listener.accept()
    with accepted:
        await anyio.wait_readable(accepted)
        splitter = Splitter(10_000)
        splitter.feed(accepted.recv(10_000))
        assert splitter.next_line() is not None
        accepted.sendall(b"".join(answers))


@pytest.mark.parametrize(
    ("answers", "start", "error"),
    [
        ([envelope.encode_failure(1, VersionMismatch.between("0.1.0", "9.0.0"))], True, VersionMismatch),
        ([], False, DaemonUnreachable),
    ],
    ids=["newer daemon", "dying daemon"],
)
async def test_a_failed_introduction_is_an_error(
    answers: list[bytes], start: bool, error: type[Exception], paths: Paths
) -> None:
    """A daemon that refuses or dies during `hello` gives no connection; one that dies is no daemon."""
    paths.runtime_dir.mkdir(mode=0o700, parents=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(paths.socket))
        listener.listen()
        async with anyio.create_task_group() as group:
            group.start_soon(answer_hello, listener, *answers)
            with pytest.raises(error):
                async with connect(paths, client="test", start=start):
                    pass
