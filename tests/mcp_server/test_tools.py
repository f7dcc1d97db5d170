"""The tools, as the official client sees them."""

from __future__ import annotations

import threading
from pathlib import Path

import anyio
import jsonschema
import pytest
from anyio import to_thread

from mcp_server.talking import NEW, SOURCE, agent, answer, near_agent, refusal, shouting
from plgd.client import connect
from plgd.errors import EmptyInstruction
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.edits import EditParams
from plgd.protocol.methods import EDIT, STATUS
from scripted_model import ScriptedModel
from server.machine import PATIENCE_S

pytestmark = pytest.mark.anyio

# Nobody waits for its end.
ENDLESS = "\n".join(map(str, range(200_000)))


async def test_an_agent_edits_a_file(paths: Paths, root: Path) -> None:
    """An edit is written, its answer has the diff and fits the tool's schema, and progress rises meanwhile."""
    stages: list[str | None] = []
    told = [-1.0]

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert told[-1] < progress <= 100 == total
        told.append(progress)
        stages.append(message)

    async with shouting(paths), agent(paths, root) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"edit_file", "apply_sketch", "edit_status", "accept_hunks", "warm"} == set(tools)
        got = answer(
            await client.call_tool(
                "edit_file",
                {"path": str(root / "list.txt"), "instruction": "shout the odd lines", "prediction": NEW},
                progress_callback=hear,
            )
        )
        schema = tools["edit_file"].output_schema
        assert schema is not None
        jsonschema.validate(got, schema)
        state = answer(await client.call_tool("edit_status", {"session": got["session"]}))
    assert ("applied", str(root / "list.txt")) == (got["status"], got["path"])
    assert "-three\n+THREE\n" in got["diff"]
    assert NEW == (root / "list.txt").read_text()
    assert ("applied", "accepted") == (state["status"], state["file"])
    assert {"prefill", "decode", "apply"} <= set(stages)


async def test_an_agent_reviews_a_proposal(paths: Paths, root: Path) -> None:
    """A proposal is not written; its hunks are accepted one by one, and what was not accepted stays as it was."""
    file = root / "list.txt"
    async with shouting(paths), agent(paths, root) as client:
        asked = {"path": "list.txt", "instruction": "shout the odd lines", "apply": False}
        proposed = answer(await client.call_tool("edit_file", asked))
        assert ("proposed", SOURCE) == (proposed["status"], file.read_text())
        accept = {"session": proposed["session"], "hunks": [1]}
        tried = answer(await client.call_tool("accept_hunks", accept | {"dry_run": True}))
        assert ("proposed", SOURCE) == (tried["status"], file.read_text())
        accepted = answer(await client.call_tool("accept_hunks", accept))
        state = answer(await client.call_tool("edit_status", {"session": proposed["session"]}))
        unknown = refusal(await client.call_tool("accept_hunks", {"session": "never"}))
    assert ("applied", "one\ntwo\nTHREE\n") == (accepted["status"], file.read_text())
    assert ["open", "accepted"] == [hunk["state"] for hunk in state["hunks"]]
    assert "never" in unknown


async def test_sketches_ranges_and_warming(paths: Paths, root: Path) -> None:
    """A sketch is merged, a range is kept to, a file is read beforehand, and half a range is refused."""
    file = root / "list.txt"
    async with shouting(paths), near_agent(paths, root) as client:
        warm = answer(await client.call_tool("warm", {"path": "inner.txt"}))
        sketch = "ONE\n# ... existing code ...\nTHREE\n"
        merged = answer(await client.call_tool("apply_sketch", {"path": "inner.txt", "code_edit": sketch}))
        half = refusal(await client.call_tool("edit_file", {"path": "list.txt", "instruction": "x", "first_line": 2}))
        beyond = refusal(
            await client.call_tool(
                "edit_file", {"path": "list.txt", "instruction": "x", "first_line": 2, "last_line": 9}
            )
        )
    assert str(file) == warm["path"] == merged["path"]
    assert warm["warm_tokens"] > 0
    assert ("applied", NEW) == (merged["status"], file.read_text())
    assert "come together" in half
    assert "3 lines" in beyond


async def test_an_empty_instruction_is_refused_in_a_sentence(paths: Paths, root: Path) -> None:
    """An agent that says nothing of what to change reads the daemon's own sentence."""
    async with shouting(paths), near_agent(paths, root) as client:
        said = refusal(await client.call_tool("edit_file", {"path": "list.txt", "instruction": ""}))
    assert said.endswith(EmptyInstruction().message)
    assert "pydantic" not in said


async def test_an_agent_that_cancels_stops_the_daemon(paths: Paths, root: Path) -> None:
    """When the agent gives a call up, the daemon ends the edit, and the file stays as it was."""
    begun = threading.Event()
    model = ScriptedModel(ENDLESS, on_target=begun.set)
    async with (
        shouting(paths, model),
        agent(paths, root) as client,
        connect(paths, client="test", start=False) as watcher,
    ):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "edit_file", {"path": "list.txt", "instruction": "shout"})
            assert await to_thread.run_sync(begun.wait, PATIENCE_S)
            group.cancel_scope.cancel()
        with anyio.fail_after(PATIENCE_S):
            while (await watcher.call(STATUS, NoParams())).jobs:
                await anyio.lowlevel.checkpoint()
    assert sum(target.offset for target in model.targets) < len(ENDLESS)
    assert SOURCE == (root / "list.txt").read_text()


async def test_outside_of_the_roots_there_is_nothing(paths: Paths, root: Path) -> None:
    """No spelling of a path leads out of the root, and a session of a file elsewhere is no session here."""
    outside = root.parent / "secret.txt"
    ways = [
        str(outside),
        "../secret.txt",
        "link.txt",
        "up/secret.txt",
        f"{root}/../secret.txt",
        "up/allowed/../secret.txt",
    ]
    ways += [f"{root}-other/list.txt", "/etc/passwd", "~/secret.txt\0"]
    async with (
        shouting(paths),
        near_agent(paths, root) as client,
        connect(paths, client="other", start=False) as other,
    ):
        for way in ways:
            for tool, more in (
                ("edit_file", {"instruction": "shout"}),
                ("apply_sketch", {"code_edit": "x"}),
                ("warm", {}),
            ):
                said = refusal(await client.call_tool(tool, {"path": way} | more))
                assert "outside the allowed folders" in said or "no path" in said, (way, said)
        theirs = await other.call(EDIT, EditParams(path=str(outside), instruction="shout"))
        for tool in ("accept_hunks", "edit_status"):
            assert "allowed folders" in refusal(await client.call_tool(tool, {"session": theirs.session}))
        within = answer(await client.call_tool("edit_file", {"path": "up/allowed/inner.txt", "instruction": "shout"}))
    assert SOURCE == outside.read_text()
    assert ("applied", str(root / "list.txt")) == (within["status"], within["path"])
