"""Models on the socket: list, describe, choose, fetch."""

from __future__ import annotations

from pathlib import Path

import pytest

from plgd.errors import Cancelled, ModelNotPulled, UnknownModel
from plgd.paths import Paths
from scripted_model import ScriptedModel
from server.conversation import serving, wire
from server.machine import Gate, GatedModel, Machine, Shelf

pytestmark = pytest.mark.anyio


async def test_models_are_listed_and_described(paths: Paths) -> None:
    """The list has every model with the selected one marked; an unknown name is refused."""
    async with serving(paths, Machine(), Shelf("m", "n")), wire(paths) as client:
        await client.ask(1, "model/list")
        models = (await client.answer(1))["result"]["models"]
        assert [("m", True), ("n", False)] == [(model["name"], model["selected"]) for model in models]
        await client.ask(2, "model/info", {"name": "n"})
        assert (await client.answer(2))["result"]["path"] == "/models/n"
        await client.ask(3, "model/info", {"name": "nonsense"})
        assert (await client.error(3))[0] == UnknownModel.code


async def test_the_chosen_model_is_used_by_the_next_edit(paths: Paths) -> None:
    """`model/use` changes what edits use that name no model; one that is not here cannot be chosen."""
    machine = Machine(m=ScriptedModel("x = 1\n```\n"), n=ScriptedModel("x = 1\n```\n"))
    async with serving(paths, machine, Shelf("m", "n")), wire(paths) as client:
        for request_id, name in ((1, "m"), (2, "n")):
            await client.ask(0, "model/use", {"name": name})
            assert (await client.answer(0))["result"]["selected"]
            await client.ask(request_id, "edit", {"instruction": "change it", "text": "y = 2\n"})
            assert (await client.answer(request_id))["result"]["status"] == "proposed"
        await client.ask(3, "model/use", {"name": "known"})
        assert (await client.error(3))[0] == ModelNotPulled.code
    assert ["m", "n"] == machine.loads


async def test_a_pull_reports_progress_and_converts_on_the_worker(paths: Paths, tmp_path: Path) -> None:
    """A download tells its bytes, its conversion runs between two rounds of the model, and the model is here then."""
    gguf = tmp_path / "new.gguf"
    gguf.write_bytes(b"weights")
    gate = Gate(is_open=False)
    async with (
        serving(paths, Machine(m=GatedModel("x = 1\n```\n", gate))),
        wire(paths) as client,
        wire(paths) as editor,
    ):
        await editor.ask(1, "edit", {"instruction": "change it", "text": "y = 2\n"})
        await editor.note_of("edit/progress", stage="prefill")
        await client.ask(2, "model/pull", {"name": str(gguf)})
        assert {"id": 2, "step": "download", "done_bytes": 1, "total_bytes": 2} == (
            await client.note_of("model/progress")
        )
        gate.open()
        assert (await client.answer(2))["result"]["name"] == str(gguf)
        assert (await editor.answer(1))["result"]["status"] == "proposed"
    assert (tmp_path / "new.model/converted").read_bytes() == b"weights"


async def test_a_cancelled_pull_stops(paths: Paths) -> None:
    """The client hears at once, and the thread that downloads sees that nobody wants it any more."""
    shelf = Shelf("m")
    shelf.pull_gate.shut()
    async with serving(paths, Machine(), shelf), wire(paths) as client:
        await client.ask(1, "model/pull", {"name": "x"})
        await client.note_of("model/progress")
        await client.note("$/cancelRequest", {"id": 1})
        assert (await client.error(1))[0] == Cancelled.code
        shelf.pull_gate.open()
    shelf.wait_interrupted()


async def test_a_client_that_leaves_stops_its_pull(paths: Paths) -> None:
    """A download does not outlive the client that asked for it."""
    shelf = Shelf("m")
    shelf.pull_gate.shut()
    async with serving(paths, Machine(), shelf), wire(paths) as other:
        async with wire(paths) as client:
            await client.ask(1, "model/pull", {"name": "x"})
            await client.note_of("model/progress")
        await other.ask(1, "stop")
        assert "result" in await other.answer(1)
        shelf.pull_gate.open()
    shelf.wait_interrupted()
