"""Code actions as editors get them."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from lsprotocol import types

from lsp.editor import capabilities, opened_editor
from lsp.talking import Talker, talking_daemon
from plgd.config import Config, EditorConfig, PresetConfig
from plgd.paths import Paths

pytestmark = pytest.mark.anyio

URI = "file:///work/sum.py"
TEXT = "import os\n\n\ndef f(a):\n    return b\n"


def kinds(actions: list[dict[str, Any]]) -> set[str]:
    """Return the kinds of actions."""
    return {action["kind"] for action in actions}


def diagnostic(line: int, message: str) -> types.Diagnostic:
    """Make a diagnostic of a whole line."""
    return types.Diagnostic(types.Range(types.Position(line, 0), types.Position(line, 8)), message)


def context(
    *, only: list[str] | None = None, automatic: bool = False, diagnostics: list[types.Diagnostic] | None = None
) -> types.CodeActionContext:
    """Make what an editor says about its question."""
    trigger = types.CodeActionTriggerKind.Automatic if automatic else types.CodeActionTriggerKind.Invoked
    return types.CodeActionContext(diagnostics or [], only=only, trigger_kind=trigger)


async def test_presets_of_plgd_the_configuration_and_the_editor(paths: Paths) -> None:
    """All three are offered, each with its kind; of a selection for its lines, else for the whole file."""
    del paths
    own = PresetConfig(id="haiku", title="Haiku", instruction="Make it a haiku.", languages=("python",))
    options = {"presets": [{"id": "todo", "title": "To do", "instruction": "List what is to do."}]}
    async with opened_editor(
        can=capabilities("vscode"), config=Config(editor=EditorConfig(presets=(own,))), options=options
    ) as editor:
        buffer = editor.open(URI, TEXT)
        offered = await editor.actions(buffer, (3, 0), (4, 4))
        assert kinds(offered) >= {f"refactor.rewrite.plgd.{name}" for name in ("types", "typos", "haiku", "todo")}
        haiku = next(action for action in offered if action["kind"].endswith("haiku"))
        assert haiku["title"] == "plgd: Haiku"
        argument = haiku["command"]["arguments"][0]
        span = {"start": {"line": 3, "character": 0}, "end": {"line": 5, "character": 0}}
        assert {"uri": URI, "instruction": "Make it a haiku.", "range": span} == argument
        whole = await editor.actions(buffer, (3, 0), (3, 0))
        haiku = next(action for action in whole if action["kind"].endswith("haiku"))
        assert ("plgd: Haiku (whole file)", False) == (haiku["title"], "range" in haiku["command"]["arguments"][0])
        other = editor.open("file:///work/a.md", "A text.\n", language="markdown")
        assert "refactor.rewrite.plgd.haiku" not in kinds(await editor.actions(other, (0, 0), (0, 0)))


async def test_a_diagnostic_can_be_fixed(paths: Paths) -> None:
    """A quick fix names the problem and its line, may change what is around it, and the edit lands."""
    talker = Talker()
    talker.reply = "def f(a):\n    return a\n"
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim")) as editor:
        buffer = editor.open(URI, TEXT)
        found = diagnostic(4, "undefined name\n'b'")
        (fix,) = await editor.actions(buffer, (4, 0), (4, 0), context(only=["quickfix"], diagnostics=[found]))
        assert ("Fix with plgd: undefined name 'b'", "quickfix") == (fix["title"], fix["kind"])
        argument = fix["command"]["arguments"][0]
        assert "Fix this problem: undefined name 'b'\nIt is in this line: return b" == argument["instruction"]
        assert (3, 5) == (argument["range"]["start"]["line"], argument["range"]["end"]["line"])
        assert [found.message] == [one["message"] for one in fix["diagnostics"]]
        assert "applied" == (await editor.finished((await editor.run(fix))["session"]))["status"]
        assert TEXT.replace("return b", "return a") == buffer.text


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (["refactor"], {"refactor.rewrite.plgd.typos", "refactor.rewrite.plgd.comment"}),
        (["refactor.rewrite.plgd.typos"], {"refactor.rewrite.plgd.typos"}),
        (["refactor.rewrite.plgd.typ"], set()),
        (["quickfix"], {"quickfix"}),
        (["source.organizeImports"], set()),
        ([""], {"quickfix", "refactor.rewrite.plgd.typos", "refactor.rewrite.plgd.comment"}),
    ],
)
async def test_only_what_was_asked_for(only: list[str], expected: set[str], paths: Paths) -> None:
    """`only` is a list of kinds, and a kind means those below it, too."""
    del paths
    async with opened_editor(can=capabilities("neovim")) as editor:
        buffer = editor.open("file:///a.md", "<!-- plgd: sort -->\nb\n", language="markdown")
        asked = context(only=only, diagnostics=[diagnostic(1, "b")])
        offered = kinds(await editor.actions(buffer, (1, 0), (1, 0), asked))
        assert expected == offered - {"refactor.rewrite.plgd.shorten"}


async def test_the_light_bulb_shows_what_is_special_about_a_line(paths: Paths) -> None:
    """Asked by itself at a move of the cursor, an editor gets fixes and comments and not the presets."""
    del paths
    async with opened_editor(can=capabilities("vscode")) as editor:
        buffer = editor.open(URI, f"# plgd: sort\n{TEXT}")
        assert [] == await editor.actions(buffer, (3, 0), (3, 0), context(automatic=True))
        asked = context(automatic=True, diagnostics=[diagnostic(1, "unused")])
        assert {"quickfix", "refactor.rewrite.plgd.comment"} == kinds(
            await editor.actions(buffer, (1, 0), (1, 0), asked)
        )


async def test_actions_are_marked_as_a_language_models(paths: Paths) -> None:
    """Editors that know the mark get it; others do not."""
    del paths
    can = capabilities("neovim")
    assert can.text_document is not None
    assert can.text_document.code_action is not None
    async with opened_editor(can=can) as editor:
        buffer = editor.open(URI, TEXT)
        assert not any(action.get("tags") for action in await editor.actions(buffer, (0, 0), (0, 0)))
    can.text_document.code_action.tag_support = types.CodeActionTagOptions([types.CodeActionTag.LlmGenerated])
    async with opened_editor(can=can) as editor:
        buffer = editor.open(URI, TEXT)
        assert all(action["tags"] == [1] for action in await editor.actions(buffer, (0, 0), (0, 0)))


async def test_an_old_editor_gets_commands(paths: Paths) -> None:
    """Without literal code actions, the same is offered as commands."""
    del paths
    async with opened_editor() as editor:
        buffer = editor.open(URI, TEXT)
        offered = await editor.actions(buffer, (0, 0), (0, 0))
        assert "plgd.edit" in {action["command"] for action in offered}
        assert {"title", "command", "arguments"} >= {
            key for action in offered for key, value in action.items() if value
        }


async def test_actions_need_no_document_and_no_daemon(paths: Paths) -> None:
    """For a document that is not open, and for a place outside of the text, there are none; no daemon is asked."""
    async with opened_editor(can=capabilities("vscode")) as editor:
        buffer = editor.open(URI, TEXT)
        assert [] == await editor.actions(buffer, (99, 0), (99, 0))
        assert [] == await editor.actions(buffer, (3, 0), (2, 0))
        buffer.uri = "file:///never/opened.py"
        assert [] == await editor.actions(buffer, (0, 0), (0, 0))
    assert not paths.runtime_dir.exists() or not paths.socket.exists()


async def test_actions_are_answered_while_the_model_works(paths: Paths) -> None:
    """The list comes from the text alone, so a reply that takes long does not hold it up."""
    talker = Talker()
    talker.gate.shut()
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("vscode")) as editor:
        buffer = editor.open(URI, TEXT)
        session = await editor.edit(buffer, "x")
        await anyio.to_thread.run_sync(talker.gate.wait_reached)
        assert [] != await editor.actions(buffer, (0, 0), (0, 0))
        assert [session] == (await editor.command("plgd.cancel"))["cancelled"]
        await editor.finished(session)
