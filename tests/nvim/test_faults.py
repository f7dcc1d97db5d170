"""What goes wrong around an edit is told in words, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.command import plgd
from nvim.editor import Editor
from nvim.talking import ListeningTalker
from plgd.paths import Paths

TEXT = b"x = 0\n"


def kill_server(editor: Editor) -> None:
    """Kill the language server, the only program that Neovim has started."""
    (server,) = editor.lua("return vim.api.nvim_get_proc_children(vim.fn.getpid())")
    os.kill(server, signal.SIGKILL)


@pytest.fixture
def stopped_afterwards(paths: Paths) -> Iterator[Paths]:
    """A user whose daemon, should one be started, is stopped in the end."""
    yield paths
    plgd("stop", "--now")


def test_a_killed_daemon_is_told(stopped_afterwards: Paths, own_editor: Editor) -> None:
    """When the daemon dies in mid-edit, the edit has failed, says why, and the buffer is as it was."""
    del stopped_afterwards
    program = Path(__file__).parents[1] / "server" / "scripted_daemon.py"
    tests = str(program.parents[1])
    with subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": tests}
    ) as process:
        assert process.stdout is not None
        assert b"ready\n" == process.stdout.readline()
        own_editor.open("x.py", TEXT)
        own_editor.command("Plgd change it")
        own_editor.wait("require('plgd').statusline():find('%%%%')")
        process.kill()
        done = own_editor.finished()
    assert "failed" == done["status"]
    assert "daemon" in own_editor.told(done["message"])
    assert TEXT == own_editor.bytes()
    own_editor.wait("vim.iter(told):any(function(item) return vim.tbl_get(item, 2, 'kind') == 'absent' end)")


def test_without_a_model_it_is_told_how_to_get_one(stopped_afterwards: Paths, own_editor: Editor) -> None:
    """On a fresh machine the first edit starts the daemon and says how to fetch a model."""
    # Named first, so that the editor ends before: its language server would start another daemon.
    del stopped_afterwards
    own_editor.open("x.py", TEXT)
    own_editor.command("Plgd change it")
    assert "failed" == own_editor.finished()["status"]
    own_editor.told("plgd model pull builtin")
    assert TEXT == own_editor.bytes()


def test_a_killed_language_server_is_started_again(editor: Editor, talker: ListeningTalker) -> None:
    """When the language server dies, that is told, what it proposed vanishes, and the next edit starts another."""
    talker.reply = "x = 1\n"
    editor.open("x.py", TEXT)
    editor.command("Plgd set it to one")
    assert "proposed" == editor.finished(1)["status"]
    assert 1 == editor.lua("return #require('plgd.preview').hunks(0)")
    kill_server(editor)
    editor.told("the language server ended by signal 9; the next :Plgd starts it again")
    assert 0 == editor.lua("return #require('plgd.preview').hunks(0)")
    assert "" == editor.lua("return require('plgd').statusline()")
    editor.command("Plgd! set it to one")
    assert "applied" == editor.finished(2)["status"]
    assert b"x = 1\n" == editor.bytes()


def test_an_edit_that_ends_with_the_language_server_is_told(editor: Editor, talker: ListeningTalker) -> None:
    """What was asked of a language server that is stopped then is told to be lost, and can be asked again."""
    talker.reply = "x = 1\n"
    editor.open("x.py", TEXT)
    editor.command("Plgd! set it to one")
    assert "applied" == editor.finished(1)["status"]
    editor.command("undo")
    editor.lua("vim.lsp.stop_client(vim.lsp.get_clients({ name = 'plgd' }), true) vim.cmd('Plgd! set it to one')")
    editor.told("what was asked is lost")
    editor.command("Plgd! set it to one")
    assert "applied" == editor.finished(2)["status"]
    assert b"x = 1\n" == editor.bytes()


def test_a_language_server_that_cannot_start_is_told(bare: Editor) -> None:
    """A command that is no language server is told when it ends, and nothing waits for ever."""
    bare.set_up(cmd=["true", "lsp"])
    bare.open("x.py", TEXT)
    bare.command("Plgd change it")
    bare.told("the language server ended with status 0; what was asked is lost, and the next :Plgd starts it")
    bare.lua("told = {}")
    bare.command("Plgd change it")
    bare.told("the language server ended with status 0")


def test_a_buffer_that_was_closed_meanwhile_is_told(editor: Editor, talker: ListeningTalker) -> None:
    """An edit whose buffer was closed before it came is told, and no other buffer is touched."""
    talker.reply = "x = 1\n"
    talker.gate.shut()
    editor.open("x.py", TEXT)
    editor.command("Plgd! set it to one")
    talker.gate.wait_reached()
    editor.command("bwipeout!")
    talker.gate.open()
    done = editor.finished()
    assert "failed" == done["status"]
    editor.told("closed")
    assert [""] == editor.rows()
