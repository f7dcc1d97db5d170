"""The examples for agents work as they stand in the documentation."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from plgd.paths import Paths
from plgd.protocol.daemon import PROTOCOL_VERSION
from plgd.version import __version__
from scripted_model import ScriptedModel
from server.conversation import serving
from server.files import put, text_of
from server.machine import PATIENCE_S, Machine

pytestmark = pytest.mark.anyio

AGENTS = Path(__file__).parents[2] / "docs/agents"
SOURCE = "one\ntwo\nthree\n"
NEW = "ONE\ntwo\nTHREE\n"
BIN = str(Path(sys.executable).parent)


@pytest.fixture
def anyio_backend() -> str:
    """The daemon runs on asyncio."""
    return "asyncio"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file to edit."""
    path = tmp_path / "list.txt"
    path.write_text(SOURCE)
    return path


def machine() -> Machine:
    """A machine whose model shouts the odd lines."""
    return Machine(m=ScriptedModel(f"{NEW}```\n"))


async def run(*command: str) -> tuple[int, str, str]:
    """Run a program that finds `plgd`; returns its exit code and what it said."""
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    with anyio.fail_after(PATIENCE_S):
        done = await anyio.run_process(command, check=False, env=environment)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def program(names: Sequence[str]) -> str:
    """Find a program, or skip."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"needs {' or '.join(names)}")
    return found


async def test_a_script_in_another_language_edits_a_file(paths: Paths, source: Path) -> None:
    """The Node example writes the file, prints the diff, and shows progress."""
    node = program(["node"])
    async with serving(paths, machine()):
        code, stdout, stderr = await run(node, str(AGENTS / "edit.mjs"), str(source), "shout the odd lines")
        assert (0, "applied") == (code, stdout.splitlines()[0]), stderr
        assert "-three\n+THREE\n" in stdout
        assert "decode" in stderr
        code, _, stderr = await run(node, str(AGENTS / "edit.mjs"), "/no/such/file", "x")
        assert (1, "/no/such/file: no such file. Check the spelling, or create the file first.\n") == (code, stderr)
        assert (1, "", "usage: node edit.mjs FILE INSTRUCTION\n") == await run(node, str(AGENTS / "edit.mjs"), "x")
    assert NEW == text_of(source)


async def test_nc_talks_to_the_daemon(paths: Paths) -> None:
    """Lines typed into `nc -U` are requests, and the answers are lines."""
    nc = program(["nc.openbsd", "nc"])
    hello = {"protocol": PROTOCOL_VERSION, "version": __version__}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "hello", "params": hello},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    ]
    async with serving(paths, machine()), await anyio.open_process([nc, "-U", str(paths.socket)]) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        await process.stdin.send(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        said = b""
        with anyio.fail_after(PATIENCE_S):
            while said.count(b"\n") < 2:
                said += await process.stdout.receive()
        assert [1, 2] == [json.loads(line)["id"] for line in said.splitlines()]
        process.terminate()


async def test_the_agents_loop_carries_out_tasks(paths: Paths, source: Path, tmp_path: Path) -> None:
    """Each task is proposed, reviewed and written; done again, it changes nothing."""
    tasks = tmp_path / "tasks.json"
    put(tasks, json.dumps([{"path": str(source), "instruction": "shout"}]))
    async with serving(paths, machine()):
        code, stdout, stderr = await run(sys.executable, str(AGENTS / "agent.py"), str(tasks))
        assert (0, f"{source}: applied\n") == (code, stdout), stderr
        assert NEW in stderr
        assert NEW == text_of(source)
        code, stdout, _ = await run(sys.executable, str(AGENTS / "agent.py"), str(tasks))
        assert (0, f"{source}: no_change\n") == (code, stdout)


async def test_a_task_that_fails_leaves_the_others_alone(paths: Paths, source: Path, tmp_path: Path) -> None:
    """A missing file is told in a line, the next task is carried out, and the exit status is 1."""
    tasks, missing = tmp_path / "tasks.json", tmp_path / "missing.txt"
    put(tasks, json.dumps([{"path": str(path), "instruction": "shout"} for path in (missing, source)]))
    async with serving(paths, machine()):
        code, stdout, stderr = await run(sys.executable, str(AGENTS / "agent.py"), str(tasks))
    told = f"{missing}: no such file. Check the spelling, or create the file first."
    assert (1, [told, f"{source}: applied"]) == (code, stdout.splitlines()), stderr
    assert NEW == text_of(source)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "usage: python agent.py TASKS.json"),
        ("[{}]", "TASKS: Object missing required field `path` - at `$[0]`"),
        ("?", "TASKS: JSON is malformed: invalid character (byte 0)"),
    ],
)
async def test_tasks_that_cannot_be_read_are_told(tmp_path: Path, given: str | None, said: str) -> None:
    """Without a list of tasks the loop ends with a line that says what is wrong."""
    tasks = tmp_path / "tasks.json"
    if given is not None:
        put(tasks, given)
    arguments = [] if given is None else [str(tasks)]
    code, stdout, stderr = await run(sys.executable, str(AGENTS / "agent.py"), *arguments)
    assert (1, "", said.replace("TASKS:", f"{tasks}:") + "\n") == (code, stdout, stderr)


async def test_the_pages_python_is_current(paths: Paths, source: Path) -> None:
    """The example on the page runs as it stands."""
    [block] = re.findall(r"```python\n((?:.|\n)*?)```", text_of(AGENTS / "README.md"))
    async with serving(paths, machine()):
        code, stdout, stderr = await run(sys.executable, "-c", block.replace("/home/me/shop.py", str(source)))
    assert (0, "proposed", "") == (code, stdout.splitlines()[0], stderr)
    assert "-three\n+THREE\n" in stdout


async def test_the_pages_shell_line_is_current(paths: Paths, source: Path) -> None:
    """The command on the page runs as it stands."""
    [line] = re.findall(r"```sh\n(plgd rpc .*)\n```", text_of(AGENTS / "README.md"))
    async with serving(paths, machine()):
        code, stdout, stderr = await run("sh", "-c", line.replace("/home/me/shop.py", str(source)))
        assert (0, "applied") == (code, json.loads(stdout)["status"]), stderr
    assert NEW == text_of(source)
