"""Edits on the socket: progress, cancel in every state, newer ones, clients that leave or do not read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from plgd.config import Config, DaemonConfig
from plgd.edits.apply import apply_edit
from plgd.errors import Cancelled, DamagedModel, EngineError, FileMissing, ModelNotPulled, QueueFull, UnknownModel
from plgd.paths import Paths
from scripted_model import ScriptedModel
from server.conversation import Wire, serving, wire
from server.machine import PATIENCE_S, Gate, GatedModel, Machine, Shelf

pytestmark = pytest.mark.anyio

SOURCE = "total = 1\nprint(total)\n"
RENAMED = "subtotal = 1\nprint(subtotal)\n"
REPLY = f"{RENAMED}```\n"


def text_of(path: Path) -> str:
    """Read a file."""
    return path.read_text()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file to edit."""
    path = tmp_path / "sum.py"
    path.write_text(SOURCE)
    return path


def edit_of(path: Path, **more: object) -> dict[str, object]:
    """Return the parameters of an edit that applies what it gets."""
    return {"instruction": "rename total to subtotal", "path": str(path), "mode": "apply", **more}


async def status_of(client: Wire) -> dict[str, Any]:
    """Ask for the status."""
    await client.ask("status", "status")
    return dict((await client.answer("status"))["result"])


async def in_thread(wait: Callable[[], object]) -> None:
    """Wait for a thread without holding the event loop."""
    await anyio.to_thread.run_sync(wait)


async def test_an_edit_streams_its_reply_and_is_applied(paths: Paths, source: Path) -> None:
    """The reply's text arrives in deltas, progress ends before the result, and the file has the new text."""
    async with serving(paths, Machine(m=ScriptedModel(REPLY))), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        messages: list[dict[str, Any]] = []
        while not messages or "method" in messages[-1]:
            messages.append(await client.read())
        assert "".join(note["params"]["text"] for note in messages if note.get("method") == "edit/delta") == RENAMED
        stages = [note["params"]["stage"] for note in messages if note.get("method") == "edit/progress"]
        assert ["queued", "loading", "prefill", "decode", "apply"] == list(dict.fromkeys(stages))
        assert messages[-1]["result"]["status"] == "applied"
        assert (await status_of(client))["n_edits"] == 1
    assert text_of(source) == RENAMED


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"path": "/no/such/file.py"}, FileMissing),
        ({"model": "nonsense"}, UnknownModel),
        ({"model": "known"}, ModelNotPulled),
    ],
)
async def test_wrong_input_is_refused_while_the_model_loads(
    params: dict[str, object], error: type[Exception], paths: Paths, source: Path
) -> None:
    """What can be told without the model is told at once."""
    machine = Machine(m=ScriptedModel(REPLY))
    machine.load_gate.shut()
    async with serving(paths, machine), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        await in_thread(machine.load_gate.wait_reached)
        await client.ask(2, "edit", edit_of(source) | params)
        assert (await client.error(2))[0] == error.code  # type: ignore[attr-defined]


async def test_the_status_is_answered_while_the_model_loads(paths: Paths, source: Path) -> None:
    """During a load the status says which model, how far, and who waits."""
    machine = Machine(m=ScriptedModel(REPLY))
    machine.load_gate.shut()
    async with serving(paths, machine), wire(paths) as client:
        assert (await status_of(client))["state"] == "idle"
        await client.ask(1, "edit", edit_of(source))
        await client.note_of("edit/progress", stage="loading", percent=0.0)
        await in_thread(machine.load_gate.wait_reached)
        status = await status_of(client)
        assert ("loading", "m", 10.0) == (status["state"], status["model"], status["loading_percent"])
        assert "10 %" in status["message"]
        assert [(str(source), "loading")] == [(job["name"], job["stage"]) for job in status["jobs"]]


async def test_the_status_is_answered_while_the_model_works(paths: Paths, source: Path, tmp_path: Path) -> None:
    """During a round the status lists the edits with their stages, and the memory of the process."""
    gate = Gate(is_open=False)
    other = tmp_path / "other.py"
    other.write_text(SOURCE)
    machine = Machine(m=GatedModel(REPLY, gate), n=ScriptedModel(REPLY))
    async with serving(paths, machine, Shelf("m", "n")), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        await client.note_of("edit/progress", stage="prefill")
        await in_thread(gate.wait_reached)
        await client.ask(2, "edit", edit_of(other, model="n"))
        await client.note_of("edit/progress", id=2, stage="queued", queue_position=1)
        status = await status_of(client)
        gate.open()
        assert status["state"] == "busy"
        assert [(str(source), "prefill"), (str(other), "queued")] == [
            (job["name"], job["stage"]) for job in status["jobs"]
        ]
        assert [0, 1] == [job["queue_position"] for job in status["jobs"]]
        assert ("cpu", 1000) == (status["device"], status["device_bytes"])
        assert status["resident_bytes"] > 1_000_000
        assert status["message"] == "Working on 1 request, 1 waiting."


async def test_cancel_while_queued(paths: Paths, source: Path, tmp_path: Path) -> None:
    """An edit that waits behind a busy model is cancelled at once."""
    gate = Gate(is_open=False)
    other = tmp_path / "other.py"
    other.write_text(SOURCE)
    machine = Machine(m=GatedModel(REPLY, gate), n=ScriptedModel(REPLY))
    async with serving(paths, machine, Shelf("m", "n")), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        await in_thread(gate.wait_reached)
        await client.ask(2, "edit", edit_of(other, model="n"))
        await client.note_of("edit/progress", id=2, stage="queued")
        await client.note("$/cancelRequest", {"id": 2})
        assert (Cancelled.code, Cancelled().message) == await client.error(2)
        gate.open()
        assert (await client.answer(1))["result"]["status"] == "applied"
    assert text_of(other) == SOURCE


async def test_cancel_while_loading(paths: Paths, source: Path) -> None:
    """An edit that waits for its model is cancelled at once; the model still arrives for the next."""
    machine = Machine(m=ScriptedModel(REPLY))
    machine.load_gate.shut()
    async with serving(paths, machine), wire(paths) as client:
        await client.ask("a", "edit", edit_of(source))
        await in_thread(machine.load_gate.wait_reached)
        await client.note("$/cancelRequest", {"id": "a"})
        assert (await client.error("a"))[0] == Cancelled.code
        machine.load_gate.open()
        await client.ask("b", "edit", edit_of(source))
        assert (await client.answer("b"))["result"]["status"] == "applied"
    assert ["m"] == machine.loads


async def test_cancel_in_the_middle_of_the_reply(paths: Paths, source: Path) -> None:
    """An edit whose reply is under way ends after the round, with the file untouched."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        await in_thread(gate.wait_reached)
        await client.note("$/cancelRequest", {"id": 1})
        await client.ask(2, "ping")
        assert (await client.answer(2))["result"] == {}
        gate.open()
        assert (await client.error(1))[0] == Cancelled.code
        assert (await status_of(client))["jobs"] == []
    assert text_of(source) == SOURCE


async def test_cancel_while_the_file_is_written(paths: Paths, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written is answered as written, however late the cancel came."""
    gate = Gate(is_open=False)

    def slow_apply(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401  # stands in for any signature
        gate.pass_through()
        return apply_edit(*arguments, **more)

    monkeypatch.setattr("plgd.edits.job.apply_edit", slow_apply)
    async with serving(paths, Machine(m=ScriptedModel(REPLY))), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        await in_thread(gate.wait_reached)
        await client.note("$/cancelRequest", {"id": 1})
        await client.ask(2, "ping")
        await client.answer(2)
        gate.open()
        assert (await client.answer(1))["result"]["status"] == "applied"
    assert text_of(source) == RENAMED


async def test_cancel_after_the_answer(paths: Paths, source: Path) -> None:
    """A cancel that comes too late changes nothing; the id can be used again."""
    async with serving(paths, Machine(m=ScriptedModel(REPLY))), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        assert (await client.answer(1))["result"]["status"] == "applied"
        await client.note("$/cancelRequest", {"id": 1})
        await client.ask(1, "ping")
        assert (await client.answer(1))["result"] == {}


async def test_a_client_that_leaves_takes_its_edits_along(paths: Paths, source: Path) -> None:
    """When a client disconnects its edit is cancelled, the file is untouched and others are served."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))) as daemon, wire(paths) as other:
        async with wire(paths) as client:
            await client.ask(1, "edit", edit_of(source))
            await in_thread(gate.wait_reached)
        with anyio.fail_after(PATIENCE_S):
            while daemon._worker._scheduler.running[0].ending is None:
                await status_of(other)
            gate.open()
            while (await status_of(other))["jobs"]:
                pass
    assert text_of(source) == SOURCE


async def test_a_newer_edit_of_the_same_lines_wins(paths: Paths, source: Path) -> None:
    """The older edit ends as `cancelled` with the reason, whoever asked for it; the newer one is carried out."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), wire(paths) as old, wire(paths) as new:
        await old.ask(1, "edit", edit_of(source))
        await in_thread(gate.wait_reached)
        await new.ask(1, "edit", edit_of(source, range={"first": 1, "last": 2}))
        await new.note_of("edit/progress", stage="queued")
        gate.open()
        result = (await old.answer(1))["result"]
        assert ("cancelled", SOURCE, "") == (result["status"], result["new_text"], result["diff"])
        assert ["A newer edit of the same lines took its place."] == result["warnings"]
        assert (await new.answer(1))["result"]["status"] == "applied"
    assert text_of(source) == RENAMED


async def test_edits_of_other_lines_and_of_buffers_do_not_compete(paths: Paths, source: Path) -> None:
    """Other lines of the file, and texts that are no files, leave an edit alone."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel("x = 1\n```\n", gate))), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source, range={"first": 1, "last": 1}, mode="propose"))
        await client.ask(2, "edit", edit_of(source, range={"first": 2, "last": 2}, mode="propose"))
        for request_id in (3, 4):
            await client.ask(request_id, "edit", {"instruction": "change it", "text": "y = 2\n"})
            await client.note_of("edit/progress", id=request_id)
        gate.open()
        answers = [await client.read() for _ in range(1)]
        while sum("result" in message for message in answers) < 4:
            answers.append(await client.read())
        statuses = {message["id"]: message["result"]["status"] for message in answers if "result" in message}
        assert dict.fromkeys((1, 2, 3, 4), "proposed") == statuses


async def test_a_full_queue_refuses(paths: Paths, source: Path) -> None:
    """More edits than the limit are refused with the number; those that are in are carried out."""
    gate = Gate(is_open=False)
    config = Config(daemon=DaemonConfig(queue_limit=1))
    async with serving(paths, Machine(m=GatedModel(REPLY, gate)), config=config), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        await in_thread(gate.wait_reached)
        await client.ask(2, "edit", {"instruction": "x", "text": "y = 2\n"})
        assert (QueueFull.code, QueueFull.of(1).message) == await client.error(2)
        gate.open()
        assert (await client.answer(1))["result"]["status"] == "applied"


async def test_a_client_that_does_not_read_is_given_up_alone(paths: Paths, caplog: pytest.LogCaptureFixture) -> None:
    """A client that asks and never reads is disconnected when its answers pile up, and the log says so once."""
    config = Config(daemon=DaemonConfig(frame_limit=4096))
    line = b'{"jsonrpc":"2.0","id":1,"method":"status"}\n'
    async with serving(paths, Machine(), config=config), wire(paths) as deaf, wire(paths) as other:
        with anyio.fail_after(PATIENCE_S), pytest.raises(anyio.BrokenResourceError):
            await deaf.stream.send(line * 100_000)
        await other.ask(1, "ping")
        assert (await other.answer(1))["result"] == {}
    assert ["a client that does not read was given up"] == [
        record.message for record in caplog.records if record.levelname == "WARNING"
    ]


async def test_each_edit_is_a_line_of_the_log(paths: Paths, source: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The log has what became of each edit, its model and its time, and nothing of what was asked or written."""
    caplog.set_level("INFO", "plgd")
    async with serving(paths, Machine(m=ScriptedModel(REPLY))), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        await client.answer(1)
        await client.ask(2, "edit", {"instruction": "rename", "text": "total = 2\n", "name": "total.py"})
        await client.answer(2)
        await client.ask(3, "edit", edit_of(Path("/no/such\nfile.py")))
        await client.error(3)
    lines = [record.getMessage() for record in caplog.records if record.name == "plgd.server.edit_log"]
    assert [
        f"edit of '{source}' by m: applied, 33 tokens ended by stop, N ms",
        "edit of a text by m: proposed, 33 tokens ended by stop, N ms",
        "edit of '/no/such\\nfile.py': FileMissing, N ms",
    ] == [re.sub(r"\d+ ms", "N ms", line) for line in lines]


async def test_a_cancelled_edit_is_a_line_of_the_log(
    paths: Paths, source: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An edit that its client gave up is in the log as cancelled."""
    caplog.set_level("INFO", "plgd")
    machine = Machine(m=ScriptedModel(REPLY))
    machine.load_gate.shut()
    async with serving(paths, machine), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        await in_thread(machine.load_gate.wait_reached)
        await client.note("$/cancelRequest", {"id": 1})
        await client.error(1)
    lines = [record.getMessage() for record in caplog.records if record.name == "plgd.server.edit_log"]
    assert [f"edit of '{source}' by m: cancelled, N ms"] == [re.sub(r"\d+ ms", "N ms", line) for line in lines]


async def test_a_model_that_fails_is_an_error_of_the_edit(paths: Paths, source: Path) -> None:
    """A load and a reply that fail are answered; the daemon says so in its status and tries again."""
    machine = Machine(m=ScriptedModel(REPLY, on_target=raise_once(MemoryError("no room"))))
    machine.fault = DamagedModel.of("m", "a file is missing")
    async with serving(paths, machine), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        assert (await client.error(1))[0] == DamagedModel.code
        status = await status_of(client)
        assert ("failed", machine.fault.message) == (status["state"], status["message"])
        machine.fault = None
        await client.ask(2, "edit", edit_of(source))
        code, message = await client.error(2)
        assert (EngineError.code, True) == (code, "MemoryError: no room" in message)
        assert text_of(source) == SOURCE
        await client.ask(3, "edit", edit_of(source))
        assert (await client.answer(3))["result"]["status"] == "applied"
        assert (await status_of(client))["state"] == "ready"


def raise_once(error: Exception) -> Callable[[], None]:
    """Return a function that raises the first time."""
    errors = [error]

    def act() -> None:
        if errors:
            raise errors.pop()

    return act
