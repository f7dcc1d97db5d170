"""What a tool asks of the daemon, and what it makes of answers that a real daemon seldom gives."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from cli.fake_daemon import FakeDaemon
from cli.results import edit_result
from mcp_server.talking import answer, near_agent, refusal
from plgd.errors import QueueFull
from plgd.paths import Paths
from plgd.protocol.edits import EditMode, EditParams, EditStatus, LineRange, Priority
from plgd.protocol.methods import EDIT

pytestmark = pytest.mark.anyio

ASKED = {"path": "inner.txt", "instruction": "shout"}


async def test_the_daemon_is_asked_for_the_real_file(paths: Paths, root: Path) -> None:
    """The path of the request has no link in it, and every argument arrives."""
    with FakeDaemon.running(paths) as daemon:
        path = str(root / "list.txt")
        daemon.answers(EDIT, msgspec.structs.replace(edit_result(), path=path))
        async with near_agent(paths, root) as client:
            more = {"first_line": 2, "last_line": 3, "apply": False, "prediction": "x", "idempotency_key": "key"}
            got = answer(await client.call_tool("edit_file", ASKED | more))
        asked = daemon.next_params(EDIT)
    assert path == got["path"]
    assert asked == EditParams(
        instruction="shout",
        path=path,
        range=LineRange(first=2, last=3),
        mode=EditMode.PROPOSE,
        prediction="x",
        idempotency_key="key",
        priority=Priority.BATCH,
    )


async def test_a_path_that_led_elsewhere_in_the_meantime_is_told(paths: Paths, root: Path) -> None:
    """When the daemon found another file than was allowed, the agent hears of a failure, and what became of it."""
    elsewhere = str(root.parent / "secret.txt")
    with FakeDaemon.running(paths) as daemon:
        daemon.answers(EDIT, msgspec.structs.replace(edit_result(), path=elsewhere, status=EditStatus.APPLIED))
        async with near_agent(paths, root) as client:
            said = refusal(await client.call_tool("edit_file", ASKED))
    assert elsewhere in said
    assert "outside the allowed folders; the edit ended as applied" in said


async def test_a_refusal_is_the_daemons_own_sentence(paths: Paths, root: Path) -> None:
    """What the daemon refuses, the agent reads in its words."""
    with FakeDaemon.running(paths) as daemon:
        daemon.answers(EDIT, QueueFull.of(7))
        async with near_agent(paths, root) as client:
            said = refusal(await client.call_tool("apply_sketch", {"path": "list.txt", "code_edit": "x"}))
    assert said.endswith(QueueFull.of(7).message)
