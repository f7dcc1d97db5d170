"""The plug-in as Neovim sees it: loading, options, help, health, what is refused."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from nvim.editor import NVIM, PLUGIN, Editor

HELP: Final = (PLUGIN / "doc" / "plgd.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """One Neovim for the tests that only look."""
    with Editor.running(tmp_path_factory.mktemp("shared") / "neovim") as running:
        yield running


def test_nothing_is_loaded_before_it_is_used(shared: Editor) -> None:
    """Commands and mappings are there from the start, the modules behind them are not loaded yet."""
    assert 2 == shared.call("exists", ":Plgd")
    loaded = "return vim.iter(package.loaded):any(function(name) return name:find('^plgd') ~= nil end)"
    assert not shared.lua(loaded)
    assert "" == shared.lua("return require('plgd').statusline()")
    assert shared.lua(loaded)


def test_packadd_loads_it(tmp_path: Path) -> None:
    """As an optional package it is there after `:packadd`, together with its help."""
    with Editor.running(tmp_path / "neovim", plugin="opt") as editor:
        assert 0 == editor.call("exists", ":Plgd")
        editor.command("packadd plgd")
        assert 2 == editor.call("exists", ":Plgd")
        editor.command("helptags ALL")
        editor.command("help :PlgdAccept")
        assert ("help", "plgd.txt") == (editor.lua("return vim.bo.filetype"), editor.call("expand", "%:t"))


def test_every_file_is_well_formed() -> None:
    """Neovim's own compiler takes every Lua file of the plug-in."""
    files = sorted(PLUGIN.rglob("*.lua"))
    assert len(files) > 10
    code = "for _, file in ipairs(arg) do assert(loadfile(file)) end"
    command = [str(NVIM), "--clean", "--headless", "-l", "-", *map(str, files)]
    done = subprocess.run(command, input=code.encode(), capture_output=True, check=False, timeout=60)
    assert (0, b"") == (done.returncode, done.stderr)


def test_help_tells_every_command_mapping_and_option(shared: Editor) -> None:
    """The help page has a tag for every command, a line for every mapping and option, and no line is too long."""
    commands = [name for name in shared.lua("return vim.tbl_keys(vim.api.nvim_get_commands({}))") if "Plgd" in name]
    assert len(commands) == 7
    assert [f"*:{name}*" for name in commands if f"*:{name}*" not in HELP] == []
    mappings = re.findall(r"<Plug>\(plgd-[a-z-]+\)", str(shared.call("execute", "nmap <Plug>(plgd")))
    assert len(mappings) == 9
    assert [mapping for mapping in mappings if f"\n{mapping}" not in HELP] == []
    options = {
        "model",
        "policy",
        "comment_marker",
        *shared.lua("return vim.tbl_keys(require('plgd.options').defaults)"),
    }
    assert [option for option in sorted(options) if f"\n{option} " not in HELP] == []
    assert [line for line in HELP.splitlines() if len(line) > 80] == []


def test_what_the_pages_tell_to_write_works(bare: Editor) -> None:
    """Every Lua snippet of the help and of the page is accepted; the one that lists the options sets the defaults."""
    page = (PLUGIN.parents[1] / "docs" / "editors" / "neovim.md").read_text(encoding="utf-8")
    snippets = re.findall(r"(?s)>lua\n(.+?)\n<?\n?(?=\S)", HELP) + re.findall(r"(?s)```lua\n(.+?)```", page)
    assert 6 == len(snippets)
    defaults = bare.lua("return require('plgd.options').defaults")
    for snippet in snippets:
        code = snippet.strip()
        bare.lua(f"return {code}" if code.startswith("{") else code)
        assert [] == bare.lua("return require('plgd.options').problems")
        if "accept_all" in code:
            assert defaults == bare.lua("return require('plgd.options').current")
    assert [] == bare.lua("return told")
    assert "x" in bare.lua("return vim.fn.maparg('<Leader>pp', 'x', false, true)")["mode"]


def test_bad_options_are_told_and_replaced(bare: Editor) -> None:
    """Whatever is wrong with an option is told in a sentence, and the default is taken."""
    bare.set_up(
        cmd="plgd",
        review="perhaps",
        reveiw="apply",
        model=7,
        presets=[{"id": "x"}],
        keymaps={"acept": "x", "next": 3, "reject": False},
        attach="command",
    )
    assert [
        "plgd: `cmd` must be a list of strings, the program first; the default is taken",
        "plgd: there is no option `keymaps.acept`, did you mean `keymaps.accept`?; the default is taken",
        "plgd: `keymaps.next` must be keys, or false for none; the default is taken",
        "plgd: `model` must be a name; the default is taken",
        "plgd: `presets` must be a list of { id =, title =, instruction =, languages = {} }; the default is taken",
        "plgd: there is no option `reveiw`, did you mean `review`?; the default is taken",
        'plgd: `review` must be "preview" or "apply"; the default is taken',
    ] == [message for kind, message in bare.lua("return told") if kind == "notify"]
    current = bare.lua("return require('plgd.options').current")
    assert (["plgd", "lsp"], "preview", []) == (current["cmd"], current["review"], current["presets"])
    assert ("]h", False) == (current["keymaps"]["next"], current["keymaps"]["reject"])


@pytest.mark.parametrize(
    ("commands", "reason"),
    [
        ("enew", "the buffer has no name yet; `:file NAME` gives it one"),
        ("help", "this is no file but a help buffer"),
        ("edit file | setlocal nomodifiable", "the buffer cannot be modified ('nomodifiable')"),
        ('edit file | call setline(1, "caf\\xe9")', "the buffer has bytes that are not UTF-8"),
    ],
    ids=["unnamed", "help", "fixed", "bytes"],
)
def test_buffers_that_cannot_be_edited_are_refused(shared: Editor, commands: str, reason: str) -> None:
    """Before anything is started, `:Plgd` says why a buffer cannot be edited."""
    shared.command("silent! %bwipeout!")
    shared.lua("told = {}")
    shared.command(commands)
    shared.command("Plgd do something")
    assert reason in shared.told("plgd: ")
    assert [] == shared.lua("return vim.lsp.get_clients()")


def test_a_program_that_is_not_there_is_told(bare: Editor) -> None:
    """Where the program `plgd` is missing, `:Plgd` and `:checkhealth plgd` say so, and what to do."""
    bare.set_up(cmd=["/nowhere/plgd", "lsp"])
    bare.open("file.txt", b"one\n")
    bare.command("Plgd do something")
    assert "`/nowhere/plgd` was not found; install plgd or set `cmd`" in bare.told("was not found")
    bare.command("checkhealth plgd")
    page = "\n".join(bare.rows())
    assert "ERROR `/nowhere/plgd` was not found" in page
    assert "Install plgd from a clone of its repository" in page


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"kind": "idle"}, "plgd"),
        ({"kind": "loading", "percent": 37}, "plgd loading 37 %%"),
        ({"kind": "busy", "percent": 42, "tokensPerSecond": 88.4}, "plgd 42 %% 88 tokens/s"),
        ({"kind": "absent"}, "plgd no daemon"),
        ({"kind": "a later version's"}, "plgd"),
    ],
    ids=str,
)
def test_statusline_tells_what_is_going_on(shared: Editor, status: dict[str, Any], words: str) -> None:
    """The component has a few words for each status, ready for 'statusline'."""
    shared.lua("require('plgd.sessions').handlers['plgd/status'](...)", status)
    assert words == shared.lua("return require('plgd').statusline()")
    evaluated = shared.request("nvim_eval_statusline", "%{%v:lua.require'plgd'.statusline()%}", {})
    assert words.replace("%%", "%") == evaluated["str"]
