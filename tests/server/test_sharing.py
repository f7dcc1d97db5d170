"""Many requests at once on the socket: priorities, deadlines, limits, and clients that do not read."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import anyio
import pytest

from plgd.client import connect
from plgd.config import Config, DaemonConfig
from plgd.engine.kept import KeepingTarget
from plgd.engine.sampling import GREEDY, Sampling
from plgd.errors import ClientBusy, DeadlinePassed, InvalidParams, QueueFull
from plgd.paths import Paths
from plgd.protocol.edits import EditParams
from plgd.protocol.methods import EDIT
from plgd.server.app import Daemon
from plgd.server.job import Ending
from scripted_model import ScriptedModel
from server.conversation import Wire, serving, wire
from server.files import put, text_of
from server.machine import PATIENCE_S, Gate, GatedModel, Machine, Shelf

pytestmark = pytest.mark.anyio

SOURCE = "total = 1\nprint(total)\n"
RENAMED = "subtotal = 1\nprint(subtotal)\n"
REPLY = f"{RENAMED}```\n"
# Passes before the daemon has looked at the request, on any machine.
AT_ONCE_MS = 0.000_001
SOON_MS = 100.0


class ForgetfulModel(ScriptedModel):
    """A scripted model that does not remember what it made, as a real one does not."""

    def target(self, sampling: Sampling = GREEDY) -> KeepingTarget:
        made = super().target(sampling)
        self.targets.clear()
        self.samplings.clear()
        return made


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """Files to edit."""
    paths = [tmp_path / f"sum{number}.py" for number in range(10)]
    for path in paths:
        put(path, SOURCE)
    return paths


def edit_of(path: Path, **more: object) -> dict[str, object]:
    """Return the parameters of an edit that applies what it gets."""
    return {"instruction": "rename total to subtotal", "path": str(path), "mode": "apply", **more}


async def in_thread(wait: Callable[[], object]) -> None:
    """Wait for a thread without holding the event loop."""
    await anyio.to_thread.run_sync(wait)


async def jobs_of(client: Wire) -> list[dict[str, Any]]:
    """Ask which jobs there are."""
    await client.ask("status", "status")
    return list((await client.answer("status"))["result"]["jobs"])


async def answers_of(client: Wire, ids: Collection[int]) -> list[dict[str, Any]]:
    """Return the answers to some requests in the order of their ids, whichever comes first."""
    found: dict[int, dict[str, Any]] = {}
    while not found.keys() >= set(ids):
        message = await client.read()
        if "method" not in message:
            found[message["id"]] = message
    return [found[number] for number in sorted(ids)]


async def until_ending(daemon: Daemon, ending: Ending) -> None:
    """Wait until a running job is to end."""
    with anyio.fail_after(PATIENCE_S):
        while not any(job.ending is ending for job in daemon._worker._scheduler.running):
            await anyio.lowlevel.checkpoint()


async def test_a_deadline_that_has_passed_loads_no_model(paths: Paths, sources: list[Path]) -> None:
    """A request that comes too late is answered without any work."""
    machine = Machine(m=ScriptedModel(REPLY))
    async with serving(paths, machine), wire(paths) as client:
        await client.ask(1, "edit", edit_of(sources[0], deadline_ms=AT_ONCE_MS))
        code, message = await client.error(1)
        assert (DeadlinePassed.code, True) == (code, "nothing was changed" in message)
        assert machine.loads == []
    assert text_of(sources[0]) == SOURCE


async def test_a_deadline_while_the_model_loads(paths: Paths, sources: list[Path]) -> None:
    """The edit ends at once; the load goes on for the next one."""
    machine = Machine(m=ScriptedModel(REPLY))
    machine.load_gate.shut()
    async with serving(paths, machine), wire(paths) as client:
        await client.ask(1, "edit", edit_of(sources[0], deadline_ms=SOON_MS))
        assert (await client.error(1))[0] == DeadlinePassed.code
        machine.load_gate.open()
        await client.ask(2, "edit", edit_of(sources[1]))
        assert (await client.answer(2))["result"]["status"] == "applied"
    assert (SOURCE, RENAMED) == (text_of(sources[0]), text_of(sources[1]))


async def test_a_deadline_in_the_queue(paths: Paths, sources: list[Path]) -> None:
    """An edit that waits for a place ends while the worker is in the middle of a round of another."""
    gate = Gate(is_open=False)
    config = Config(daemon=DaemonConfig(running_limit=1))
    async with serving(paths, Machine(m=GatedModel(REPLY, gate)), config=config), wire(paths) as client:
        await client.ask(1, "edit", edit_of(sources[0]))
        await in_thread(gate.wait_reached)
        await client.ask(2, "edit", edit_of(sources[1], deadline_ms=SOON_MS))
        assert (await client.error(2))[0] == DeadlinePassed.code
        gate.open()
        assert (await client.answer(1))["result"]["status"] == "applied"
    assert text_of(sources[1]) == SOURCE


async def test_a_deadline_in_a_round(paths: Paths, sources: list[Path]) -> None:
    """The edit ends when its round does, and the one beside it is carried out."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))) as daemon, wire(paths) as client:
        await client.ask(1, "edit", edit_of(sources[0], deadline_ms=SOON_MS))
        await in_thread(gate.wait_reached)
        await client.ask(2, "edit", edit_of(sources[1]))
        await client.note_of("edit/progress", id=2)
        await until_ending(daemon, Ending.DEADLINE)
        gate.open()
        code, _ = await client.error(1)
        assert code == DeadlinePassed.code
        assert (await client.answer(2))["result"]["status"] == "applied"
    assert (SOURCE, RENAMED) == (text_of(sources[0]), text_of(sources[1]))


@pytest.mark.parametrize("deadline_ms", [0, -1, 1e30])
async def test_a_deadline_that_makes_no_sense_is_refused(deadline_ms: float, paths: Paths, sources: list[Path]) -> None:
    """The message names the field."""
    async with serving(paths, Machine(m=ScriptedModel(REPLY))), wire(paths) as client:
        await client.ask(1, "edit", edit_of(sources[0], deadline_ms=deadline_ms))
        code, message = await client.error(1)
        assert (InvalidParams.code, True) == (code, "deadline_ms" in message)


@pytest.mark.parametrize("all_or_nothing", [False, True])
async def test_deadlines_of_several_files(all_or_nothing: bool, paths: Paths, sources: list[Path]) -> None:
    """A file that is late is an error of that file, or ends the whole request where all were to be written."""
    files = [edit_of(sources[0]), edit_of(sources[1], deadline_ms=AT_ONCE_MS)]
    async with serving(paths, Machine(m=ScriptedModel(REPLY))), wire(paths) as client:
        await client.ask(1, "edit/many", {"files": files, "all_or_nothing": all_or_nothing})
        answer = await client.answer(1)
        if all_or_nothing:
            assert answer["error"]["code"] == DeadlinePassed.code
        else:
            first, second = answer["result"]["files"]
            assert ("applied", DeadlinePassed.code) == (first["result"]["status"], second["error"]["code"])
    assert (SOURCE if all_or_nothing else RENAMED, SOURCE) == (text_of(sources[0]), text_of(sources[1]))


async def test_who_is_interactive(paths: Paths, sources: list[Path]) -> None:
    """One edit is, several files in a request and texts that become warm are not, and a request may say."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), wire(paths) as client:
        await client.ask(1, "edit", edit_of(sources[0]))
        await in_thread(gate.wait_reached)
        await client.ask(2, "edit", edit_of(sources[1], priority="batch"))
        await client.ask(3, "edit/many", {"files": [edit_of(sources[2])]})
        await client.ask(4, "edit/many", {"files": [edit_of(sources[3], priority="interactive")]})
        files = [edit_of(sources[4], priority="interactive"), edit_of(sources[5])]
        await client.ask(5, "edit/many", {"files": files, "all_or_nothing": True})
        await client.ask(6, "document/warm", {"path": str(sources[6])})
        found: dict[str, str] = {}
        with anyio.fail_after(PATIENCE_S):
            while len(found) < 6:
                found = {job["name"]: job["priority"] for job in await jobs_of(client)}
        gate.open()
    expected = ["interactive", "batch", "batch", "interactive", "interactive", "batch"]
    assert expected == list(dict(sorted(found.items())).values())


async def test_an_interactive_edit_overtakes_eight_batch_edits(paths: Paths, sources: list[Path]) -> None:
    """It gets a place at once and most of the turns: it is over before any of those that began earlier."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), wire(paths) as agent, wire(paths) as person:
        for number in range(8):
            await agent.ask(number, "edit", edit_of(sources[number], priority="batch", drafting={"policy": "off"}))
        await in_thread(gate.wait_reached)
        with anyio.fail_after(PATIENCE_S):
            while len(await jobs_of(person)) < 8:
                pass
        await person.ask(1, "edit", edit_of(sources[8]))
        await person.note_of("edit/progress", stage="queued")
        gate.open()
        result = (await person.answer(1))["result"]
        left = await jobs_of(person)
        assert result["status"] == "applied"
        answers = await answers_of(agent, range(8))
    assert ["applied"] * 8 == [answer["result"]["status"] for answer in answers]
    assert len(left) == 8


async def test_ranges_that_overlap_do_not_replace_each_other(paths: Paths, sources: list[Path]) -> None:
    """Only the same lines are the same wish; of two that overlap, the later to be written finds a conflict."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), wire(paths) as client:
        await client.ask(1, "edit", edit_of(sources[0], range={"first": 1, "last": 2}))
        await in_thread(gate.wait_reached)
        await client.ask(2, "edit", edit_of(sources[0], range={"first": 1, "last": 1}))
        await client.note_of("edit/progress", id=2, stage="queued")
        gate.open()
        answers = await answers_of(client, (1, 2))
    assert ["applied", "conflict"] == [answer["result"]["status"] for answer in answers]
    assert text_of(sources[0]) == RENAMED


async def test_a_flood_is_refused_with_a_hint(paths: Paths, sources: list[Path]) -> None:
    """One client's limit keeps places for others; the queue's limit holds for all; both say when to try again."""
    gate = Gate(is_open=False)
    config = Config(daemon=DaemonConfig(queue_limit=3, client_limit=2))
    async with (
        serving(paths, Machine(m=GatedModel(REPLY, gate)), config=config),
        wire(paths) as flood,
        wire(paths) as other,
        wire(paths) as third,
    ):
        await flood.ask(0, "edit", edit_of(sources[0]))
        await in_thread(gate.wait_reached)
        for number in range(1, 6):
            await flood.ask(number, "edit", edit_of(sources[number]))
        # Files are read side by side, so any one of the five may be first.
        refused: list[dict[str, Any]] = []
        while len(refused) < 4:
            message = await flood.read()
            refused += [message] if "error" in message else []
        [taken] = {1, 2, 3, 4, 5} - {message["id"] for message in refused}
        await other.ask(1, "edit", edit_of(sources[6]))
        await other.note_of("edit/progress", stage="queued")
        await third.ask(1, "edit", edit_of(sources[7]))
        full = await third.answer(1)
        gate.open()
        assert (await other.answer(1))["result"]["status"] == "applied"
        assert ["applied"] * 2 == [answer["result"]["status"] for answer in await answers_of(flood, (0, taken))]
    assert {ClientBusy.code} == {answer["error"]["code"] for answer in refused}
    assert QueueFull.code == full["error"]["code"]
    assert all(answer["error"]["data"]["retry_after_s"] > 0 for answer in (*refused, full))


async def test_a_client_in_python_learns_when_to_try_again(paths: Paths, sources: list[Path]) -> None:
    """The exception has what the error's data says."""
    gate = Gate(is_open=False)
    config = Config(daemon=DaemonConfig(queue_limit=1))
    async with serving(paths, Machine(m=GatedModel(REPLY, gate)), config=config), wire(paths) as other:
        await other.ask(1, "edit", edit_of(sources[0]))
        await in_thread(gate.wait_reached)
        async with connect(paths, client="test", start=False) as client:
            with pytest.raises(QueueFull) as refused:
                await client.call(EDIT, EditParams(instruction="x", text="y = 1\n"))
        gate.open()
    assert refused.value.retry_after_s > 0


async def test_a_client_that_does_not_read_holds_up_nobody(paths: Paths, sources: list[Path]) -> None:
    """It is disconnected and its edit ends; eight others that are under way meanwhile get all of theirs."""
    gate = Gate(is_open=False)
    config = Config(daemon=DaemonConfig(frame_limit=4096))
    machine = Machine(m=GatedModel(REPLY, gate))
    async with serving(paths, machine, Shelf("m"), config) as daemon, wire(paths) as deaf, wire(paths) as others:
        await deaf.ask(0, "edit", edit_of(sources[9]))
        await in_thread(gate.wait_reached)
        for number in range(8):
            await others.ask(number, "edit", edit_of(sources[number]))
            await others.note_of("edit/progress", id=number, stage="queued")
        line = b'{"jsonrpc":"2.0","id":1,"method":"status"}\n'
        async with anyio.create_task_group() as group:

            async def ask_without_end() -> None:
                with anyio.fail_after(PATIENCE_S), pytest.raises(anyio.BrokenResourceError):
                    await deaf.stream.send(line * 100_000)

            group.start_soon(ask_without_end)
            await until_ending(daemon, Ending.CANCELLED)
            gate.open()
            answers = await answers_of(others, range(8))
    assert ["applied"] * 8 == [answer["result"]["status"] for answer in answers]
    assert ([RENAMED] * 8, SOURCE) == ([text_of(path) for path in sources[:8]], text_of(sources[9]))


async def test_nothing_is_left_of_an_edit_that_is_answered(paths: Paths) -> None:
    """Beyond what is kept of the latest edits, the daemon's objects do not become more with each."""
    async with serving(paths, Machine(m=ForgetfulModel(REPLY))), wire(paths) as client:

        async def edit(first: int, last: int) -> int:
            for number in range(first, last):
                priority = "batch" if number % 2 else "interactive"
                text = f"total = {number}\nprint(total)\n"
                await client.ask(number, "edit", {"text": text, "instruction": "rename", "priority": priority})
                assert (await client.answer(number))["result"]["status"] == "proposed"
            gc.collect()
            return len(gc.get_objects())

        n_before = await edit(0, 100)
        n_after = await edit(100, 250)
    assert n_after - n_before < 75, "less than one object for two edits"
