"""How the daemon ends: asked to, with and without waiting, by a signal, by itself."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import anyio
import pytest

from plgd.config import Config, DaemonConfig
from plgd.errors import Cancelled, ConnectionLost, ShuttingDown
from plgd.paths import Paths
from scripted_model import ScriptedModel
from server.conversation import serving, wire
from server.machine import PATIENCE_S, Gate, GatedModel, Machine, Shelf

pytestmark = pytest.mark.anyio

SOURCE = "total = 1\n"
REPLY = "subtotal = 1\n```\n"


def text_of(path: Path) -> str:
    """Read a file."""
    return path.read_text()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file to edit."""
    path = tmp_path / "sum.py"
    path.write_text(SOURCE)
    return path


async def test_stop_answers_when_the_socket_is_gone(paths: Paths) -> None:
    """After the answer to `stop` nobody finds the daemon any more, and every connection ends."""
    async with serving(paths, Machine()), wire(paths) as client, wire(paths) as idle:
        await client.ask(1, "stop")
        assert {"pid": os.getpid()} == (await client.answer(1))["result"]
        assert not paths.socket.exists()
        assert await client.closed()
        assert await idle.closed()


async def test_stop_finishes_the_edits_that_run(paths: Paths, source: Path) -> None:
    """A draining daemon answers its edits first, takes no new ones, and says that it is stopping."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), wire(paths) as editor, wire(paths) as client:
        await editor.ask(1, "edit", {"instruction": "rename", "path": str(source), "mode": "apply"})
        await anyio.to_thread.run_sync(gate.wait_reached)
        await client.ask(1, "stop")
        await client.ask(2, "status")
        assert (await client.answer(2))["result"]["state"] == "stopping"
        await client.ask(3, "edit", {"instruction": "rename", "path": str(source)})
        assert (ShuttingDown.code, ShuttingDown().message) == await client.error(3)
        assert paths.socket.exists()
        gate.open()
        assert (await editor.answer(1))["result"]["status"] == "applied"
        assert "result" in await client.answer(1)
    assert REPLY.removesuffix("```\n") == text_of(source)


async def test_stop_now_cancels_the_edits_that_run(paths: Paths, source: Path) -> None:
    """Without draining the running edit ends after its round, is answered as cancelled, and its file is untouched."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), wire(paths) as editor, wire(paths) as client:
        await editor.ask(1, "edit", {"instruction": "rename", "path": str(source), "mode": "apply"})
        await anyio.to_thread.run_sync(gate.wait_reached)
        await client.ask(1, "stop")
        await client.ask(2, "stop", {"drain": False})
        await client.ask(3, "ping")
        await client.answer(3)
        gate.open()
        assert (await editor.error(1))[0] == Cancelled.code
        assert {1, 2} == {(await client.read())["id"], (await client.read())["id"]}
    assert text_of(source) == SOURCE


async def test_stop_now_does_not_wait_for_a_step_without_end(
    paths: Paths, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a step takes too long, its edit is answered all the same and the daemon takes its leave."""
    monkeypatch.setattr("plgd.server.app._HURRY_S", 0.0)
    monkeypatch.setattr("plgd.server.app._WORKER_TIMEOUT_S", 0.0)
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))) as daemon, wire(paths) as editor:
        await editor.ask(1, "edit", {"instruction": "rename", "path": str(source), "mode": "apply"})
        await anyio.to_thread.run_sync(gate.wait_reached)
        daemon.request_stop(drain=False)
        assert (ConnectionLost.code, ConnectionLost().message) == await editor.error(1)
        assert await editor.closed()
        assert not paths.socket.exists()
        gate.open()
    assert text_of(source) == SOURCE


@pytest.mark.parametrize("what", ["socket", "folder"])
async def test_a_daemon_that_nobody_finds_ends(
    what: str, paths: Paths, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When its socket or the whole runtime folder is removed, the daemon finishes its work and exits."""
    monkeypatch.setattr("plgd.server.app._SOCKET_CHECK_S", 0.001)
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))) as daemon, wire(paths) as editor:
        await editor.ask(1, "edit", {"instruction": "rename", "path": str(source), "mode": "apply"})
        await anyio.to_thread.run_sync(gate.wait_reached)
        if what == "socket":
            paths.socket.unlink()
        else:
            shutil.rmtree(paths.runtime_dir)
        with anyio.fail_after(PATIENCE_S):
            await daemon._lifecycle.stop_requested.wait()
        gate.open()
        assert (await editor.answer(1))["result"]["status"] == "applied"
        assert await editor.closed()
    assert REPLY.removesuffix("```\n") == text_of(source)


async def test_stop_goes_on_when_its_client_leaves(paths: Paths) -> None:
    """Who asked for the end need not wait for it."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), wire(paths) as editor:
        await editor.ask(1, "edit", {"instruction": "rename", "text": SOURCE})
        await anyio.to_thread.run_sync(gate.wait_reached)
        async with wire(paths) as client:
            await client.ask(1, "stop")
            await client.ask(2, "ping")
            await client.answer(2)
        gate.open()
        assert (await editor.answer(1))["result"]["status"] == "proposed"
        assert await editor.closed()


async def test_stop_interrupts_a_download(paths: Paths) -> None:
    """A download does not hold up the end: it can be resumed."""
    shelf = Shelf("m")
    shelf.pull_gate.shut()
    async with serving(paths, Machine(), shelf), wire(paths) as client, wire(paths) as other:
        await client.ask(1, "model/pull", {"name": "x"})
        await client.note_of("model/progress", step="download")
        await other.ask(1, "stop")
        await other.ask(2, "ping")
        await other.answer(2)
        shelf.pull_gate.open()
        assert await other.closed()
    assert shelf.was_interrupted.is_set()


async def test_a_daemon_that_nobody_needs_exits(paths: Paths) -> None:
    """After the set time without a request the daemon ends by itself, also with an idle client connected."""
    config = Config(daemon=DaemonConfig(exit_after_s=0.001))
    async with serving(paths, Machine(), config=config), wire(paths, hello=False) as client:
        assert await client.closed()
        assert not paths.socket.exists()


async def test_an_idle_model_is_unloaded_and_the_status_says_so(paths: Paths, source: Path) -> None:
    """The model leaves memory before the daemon does; the next edit loads it again."""
    machine = Machine(m=ScriptedModel(REPLY))
    config = Config(daemon=DaemonConfig(unload_after_s=0.001))
    async with serving(paths, machine, config=config), wire(paths) as client:
        for n_loads in (1, 2):
            machine.released.clear()
            await client.ask(1, "edit", {"instruction": "rename", "path": str(source)})
            assert (await client.answer(1))["result"]["status"] == "proposed"
            await anyio.to_thread.run_sync(machine.released.wait, PATIENCE_S)
            assert n_loads == len(machine.loads)
