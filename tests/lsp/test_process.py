"""`plgd lsp` as the process that editors start."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from cli.command import on_terminal
from lsp.editor import PATIENCE_S, started_editor
from lsp.talking import Talker, talking_daemon
from plgd.paths import Paths

COMMAND: Final = [sys.executable, "-m", "plgd_cli", "lsp"]


def message(method: str, params: object = None, request_id: int | None = None) -> bytes:
    """Frame a message."""
    content: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if request_id is not None:
        content["id"] = request_id
    body = json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def initialize(process_id: int | None = None) -> bytes:
    """Frame an introduction."""
    return message("initialize", {"processId": process_id, "rootUri": None, "capabilities": {}}, 1)


def run(stdin: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run the server on an input that ends."""
    return subprocess.run([*COMMAND, *options], input=stdin, capture_output=True, timeout=PATIENCE_S, check=False)


@pytest.mark.anyio
async def test_a_session_over_pipes(paths: Paths) -> None:
    """The command serves an editor on its standard input and output, and an edit lands."""
    talker = Talker()
    talker.reply = "b\n"
    async with talking_daemon(paths, talker), started_editor() as editor:
        buffer = editor.open("file:///work/a.py", "a\n")
        assert "applied" == (await editor.finished(await editor.edit(buffer, "x")))["status"]
        assert "b\n" == buffer.text


@pytest.mark.usefixtures("paths")
def test_the_exit_code_says_how_it_ended() -> None:
    """0 after `shutdown` and `exit`; 1 after `exit` alone, and when the input just ends; nothing is said about it."""
    begun = initialize() + message("initialized", {})
    left = run(begun + message("shutdown", None, 2) + message("exit"), "--stdio")
    assert (0, b"") == (left.returncode, left.stderr)
    assert b'"positionEncoding": "utf-16"' in left.stdout
    assert (1, b"") == ((fled := run(begun + message("exit"))).returncode, fled.stderr)
    assert (1, b"") == ((cut := run(begun[:-3])).returncode, cut.stderr)


@pytest.mark.usefixtures("paths")
def test_any_file_can_be_the_input(tmp_path: Path) -> None:
    """A file, as well as one socket for both directions, can be what the server talks over."""
    session = initialize() + message("initialized", {}) + message("shutdown", None, 2) + message("exit")
    recorded = tmp_path / "session"
    recorded.write_bytes(session)
    with recorded.open("rb") as file:
        done = subprocess.run(COMMAND, stdin=file, capture_output=True, timeout=PATIENCE_S, check=False)
    assert (0, True) == (done.returncode, b'"serverInfo"' in done.stdout)
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen(COMMAND, stdin=theirs.fileno(), stdout=theirs.fileno()) as server:
        theirs.close()
        ours.sendall(session)
        assert ours.recv(4096).startswith(b"Content-Length")
        assert 0 == server.wait(PATIENCE_S)


@pytest.mark.usefixtures("paths")
def test_nonsense_on_the_wire_is_survived() -> None:
    """Text that is no message is told, and the next message is answered."""
    nonsense = b"Content-Length: 3\r\n\r\n{]}" + b"Content-Length: 2\r\n\r\n[]" + message("no/such/note", {})
    done = run(
        nonsense + initialize() + message("no/such/request", {}, 7) + message("shutdown", None, 2) + message("exit")
    )
    assert 0 == done.returncode, done.stderr
    assert b'"serverInfo"' in done.stdout
    assert b"-32601" in done.stdout


@pytest.mark.usefixtures("paths")
def test_it_ends_with_its_editor() -> None:
    """When the editor dies and something else keeps its pipe open, the server ends nevertheless."""
    with (
        subprocess.Popen(["/bin/sleep", "600"]) as editor,
        subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(initialize(editor.pid))
        server.stdin.flush()
        assert server.stdout.readline().startswith(b"Content-Length")
        editor.kill()
        editor.wait()
        assert 1 == server.wait(PATIENCE_S)


def test_a_bad_configuration_is_shown(paths: Paths) -> None:
    """A mistake in the configuration is a message in the editor and keeps nothing from working."""
    paths.config_dir.mkdir(parents=True)
    paths.config_file.write_text('[[editor.presets]]\nid = "a"\n')
    done = run(initialize() + message("initialized", {}) + message("shutdown", None, 2) + message("exit"))
    assert (0, True) == (done.returncode, b"window/showMessage" in done.stdout)
    assert b"config.toml" in done.stdout


def test_nothing_heavy_is_imported() -> None:
    """The server's process loads neither a model's libraries nor the daemon."""
    code = "import plgd_cli.commands.lsp, sys; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"mlx", "mlx_lm", "transformers", "tokenizers", "numpy", "plgd.server", "plgd.engine", "plgd.edits"}
    assert set() == set(done.stdout.split()) & heavy


def test_the_command_is_listed() -> None:
    """`plgd --help` names it."""
    done = subprocess.run([*COMMAND[:-1], "--help"], capture_output=True, text=True, check=True, cwd=Path("/"))
    assert "lsp " in done.stdout


@pytest.mark.usefixtures("paths")
def test_a_person_is_told_what_it_is() -> None:
    """On a terminal, the command says that editors start it, and ends with the input."""
    done = on_terminal("lsp", typed="\x04", stdout_is_pipe=True)
    assert (1, True, b"") == (done.exit_code, "talks to an editor" in done.shown, done.stdout)
