"""A client that outlives the daemon."""

from __future__ import annotations

import socket
from pathlib import Path

import anyio
import pytest

from plgd.client import Client
from plgd.edits.write import replace_file
from plgd.errors import ConnectionLost, DaemonUnreachable, FileMissing
from plgd.lasting_client import LastingClient, connect_lasting
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.documents import OpenParams
from plgd.protocol.edits import EditDelta, EditMode, EditParams, EditResult, EditStatus
from plgd.protocol.methods import DOCUMENT_LIST, DOCUMENT_OPEN, EDIT, PING, STATUS, Method
from plgd.server.app import Daemon
from plgd.streamed import streamed
from scripted_model import ScriptedModel
from server.conversation import serving
from server.files import text_of
from server.machine import Gate, GatedModel, Machine

pytestmark = pytest.mark.anyio

SOURCE = "total = 1\n"
RENAMED = "subtotal = 1\n"
REPLY = f"{RENAMED}```\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file to edit."""
    path = tmp_path / "sum.py"
    path.write_text(SOURCE)
    return path


def edit_of(path: Path, mode: EditMode = EditMode.APPLY) -> EditParams:
    """Return an edit."""
    return EditParams(instruction="rename", path=str(path), mode=mode)


def drop(daemon: Daemon) -> None:
    """Cut the connections, as the end of a daemon does that is killed."""
    for connection in daemon._connections:
        connection._whole.cancel()
        connection._stream.socket.shutdown(socket.SHUT_RDWR)


async def pid_of(client: LastingClient) -> int:
    """Ask the daemon who it is."""
    return (await client.call(STATUS, NoParams())).pid


async def test_the_next_call_reaches_the_next_daemon(paths: Paths) -> None:
    """Between two calls the daemon may go and another come; the client connects again by itself."""
    async with connect_lasting(paths, client="test", start=False) as client:
        for _ in range(2):
            async with serving(paths, Machine()):
                await client.call(PING, NoParams())
                await client.call(PING, NoParams())
        with pytest.raises(DaemonUnreachable):
            await client.call(PING, NoParams())
        async with serving(paths, Machine()):
            assert await pid_of(client)


async def test_an_edit_whose_answer_was_lost_is_not_made_twice(
    paths: Paths, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the connection breaks after the file was written, the repeated request gets the first one's result."""
    scripted = ScriptedModel(REPLY)
    gate = Gate(is_open=False)

    def writing(path: Path, data: bytes, expected: str) -> bool:
        replaced = replace_file(path, data, expected)
        gate.pass_through()
        return replaced

    monkeypatch.setattr("plgd.edits.apply.replace_file", writing)
    results: list[EditResult] = []

    async def edit() -> None:
        results.append(await client.call(EDIT, edit_of(source)))

    async with (
        serving(paths, Machine(m=scripted)) as daemon,
        connect_lasting(paths, client="test", start=False) as client,
    ):
        async with anyio.create_task_group() as group:
            group.start_soon(edit)
            await anyio.to_thread.run_sync(gate.wait_reached)
            drop(daemon)
            gate.open()
        assert [EditStatus.APPLIED] == [result.status for result in results]
        assert (RENAMED, 1) == (text_of(source), len(scripted.targets))


async def test_an_edit_that_broke_off_is_made_again(paths: Paths, source: Path) -> None:
    """When the connection breaks while the model works, the edit is made by the next request."""
    async with (
        serving(paths, Machine(m=ScriptedModel(REPLY))) as daemon,
        connect_lasting(paths, client="test", start=False) as client,
    ):
        n_dropped = 0

        def drop_once(note: object) -> None:
            nonlocal n_dropped
            if isinstance(note, EditDelta) and not n_dropped:
                n_dropped += 1
                drop(daemon)

        result = await client.call(EDIT, edit_of(source, EditMode.PROPOSE), drop_once)
        assert (EditStatus.PROPOSED, 1) == (result.status, n_dropped)


async def test_a_call_during_a_shutdown_waits_for_the_end(paths: Paths, source: Path) -> None:
    """A daemon that finishes its work takes nothing new: the call is made to whoever comes after it."""
    gate = Gate(is_open=False)
    results: list[EditStatus | type[Exception]] = []

    async def edit(mode: EditMode) -> None:
        try:
            results.append((await client.call(EDIT, edit_of(source, mode))).status)
        except DaemonUnreachable as error:
            results.append(type(error))

    async with (
        connect_lasting(paths, client="test", start=False) as client,
        serving(paths, Machine(m=GatedModel(REPLY, gate))) as daemon,
        anyio.create_task_group() as group,
    ):
        group.start_soon(edit, EditMode.APPLY)
        await anyio.to_thread.run_sync(gate.wait_reached)
        daemon.request_stop(drain=True)
        group.start_soon(edit, EditMode.PROPOSE)
        await client.call(PING, NoParams())
        assert [] == results
        gate.open()
    assert [EditStatus.APPLIED, DaemonUnreachable] == results
    assert RENAMED == text_of(source)


async def test_what_must_not_be_done_twice_is_not_repeated(paths: Paths) -> None:
    """A lost answer to a request without a key, which is not harmless, is told to the caller."""
    once = Method("ping", PING.params, PING.result, "", repeatable=False)
    async with (
        serving(paths, Machine()) as daemon,
        connect_lasting(paths, client="test", start=False) as client,
    ):
        await client.call(PING, NoParams())
        drop(daemon)
        with pytest.raises(ConnectionLost):
            await client.call(once, NoParams())
        await client.call(PING, NoParams())


async def test_documents_are_opened_again(paths: Paths) -> None:
    """What a connection holds is made again on the next, before anything else is asked."""

    async def open_again(opened: Client) -> None:
        await opened.call(PING, NoParams())
        await opened.call(DOCUMENT_OPEN, OpenParams(uri="untitled:1", text="x"))

    async with connect_lasting(paths, client="test", start=False, on_connect=open_again) as client:
        for _ in range(2):
            async with serving(paths, Machine()):
                [document] = (await client.call(DOCUMENT_LIST, NoParams())).documents
                assert "untitled:1" == document.uri


async def test_errors_are_the_callers(paths: Paths) -> None:
    """A refusal, and an exception of the caller's own, pass unwrapped."""
    async with serving(paths, Machine()):
        with pytest.raises(FileMissing):
            async with connect_lasting(paths, client="test", start=False) as client:
                await client.call(EDIT, edit_of(Path("/no/such/file")))


async def test_a_call_is_iterated_over(paths: Paths, source: Path) -> None:
    """The reply's text is there as it comes, then the result."""
    async with (
        serving(paths, Machine(m=ScriptedModel(REPLY))),
        connect_lasting(paths, client="test", start=False) as client,
        streamed(client, EDIT, edit_of(source)) as edit,
    ):
        text = "".join([note.text async for note in edit if isinstance(note, EditDelta)])
        assert (RENAMED, EditStatus.APPLIED) == (text, (await edit.result()).status)


async def test_leaving_a_stream_cancels_the_request(paths: Paths, source: Path) -> None:
    """Whoever has seen enough leaves the block, and the daemon drops the edit."""
    gate = Gate(is_open=False)
    async with (
        serving(paths, Machine(m=GatedModel(REPLY, gate))),
        connect_lasting(paths, client="test", start=False) as client,
    ):
        async with streamed(client, EDIT, edit_of(source)) as edit:
            async for _ in edit:
                break
        await client.call(PING, NoParams())  # is read after the cancel
        gate.open()
        other = await client.call(EDIT, EditParams(instruction="x", text=SOURCE))
        assert EditStatus.PROPOSED is other.status
    assert SOURCE == text_of(source)


async def test_a_streams_error_is_raised_by_its_result(paths: Paths) -> None:
    """Iterating ends when the request was refused; asking for the result says why."""
    async with (
        serving(paths, Machine()),
        connect_lasting(paths, client="test", start=False) as client,
        streamed(client, EDIT, edit_of(Path("/no/such/file"))) as edit,
    ):
        assert [] == [note async for note in edit]
        with pytest.raises(FileMissing):
            await edit.result()
