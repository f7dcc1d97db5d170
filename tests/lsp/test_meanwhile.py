"""What may happen to a document while the model works on it."""

from __future__ import annotations

import anyio
import pytest
from lsprotocol import types

from lsp.editor import Buffer, Editor, capabilities, opened_editor
from lsp.talking import Talker, talking_daemon
from plgd.paths import Paths

pytestmark = pytest.mark.anyio

URI = "file:///work/a.py"
BOOK = "file:///work/n.ipynb"
CELL = "notebook-cell:/work/n.ipynb#1"


def open_cell(editor: Editor, text: str) -> Buffer:
    """Open a notebook with one cell."""
    cell = types.NotebookCell(types.NotebookCellKind.Code, CELL)
    editor.client.notebook_document_did_open(
        types.DidOpenNotebookDocumentParams(
            types.NotebookDocument(BOOK, "jupyter-notebook", 1, [cell]),
            [types.TextDocumentItem(CELL, "python", 1, text)],
        )
    )
    return editor.note(CELL, text, BOOK)


def remove_cell(editor: Editor) -> None:
    """Take the cell out of its notebook."""
    del editor.buffers[CELL]
    change = types.NotebookDocumentCellChangeStructure(
        types.NotebookCellArrayChange(0, 1, []), did_close=[types.TextDocumentIdentifier(CELL)]
    )
    editor.client.notebook_document_did_change(
        types.DidChangeNotebookDocumentParams(
            types.VersionedNotebookDocumentIdentifier(2, BOOK),
            types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(structure=change)),
        )
    )


@pytest.mark.parametrize("kind", ["buffer", "cell"])
async def test_a_document_that_is_closed_meanwhile_gets_no_edit(kind: str, paths: Paths) -> None:
    """A buffer that is closed and a cell that is removed are left alone, and the user is told so."""
    talker = Talker()
    talker.reply = "B\n"
    talker.gate.shut()
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("emacs")) as editor:
        buffer = open_cell(editor, "a\n") if kind == "cell" else editor.open(URI, "a\n")
        session = await editor.edit(buffer, "x")
        await anyio.to_thread.run_sync(talker.gate.wait_reached)
        if kind == "cell":
            remove_cell(editor)
        else:
            editor.close(buffer)
        talker.gate.open()
        finished = await editor.finished(session)
        assert ("failed", True) == (finished["status"], "the document was closed" in finished["message"])
        assert [] == editor.edits
        other = editor.open("file:///work/b.py", "b\n")
        assert "applied" == (await editor.finished(await editor.edit(other, "x")))["status"]


async def test_a_document_that_is_closed_and_opened_meanwhile_is_not_written_over(paths: Paths) -> None:
    """What the editor opens under the same name is another text: it gets the edit only where its lines are the same."""
    talker = Talker()
    talker.reply = "A\nb\n"
    talker.gate.shut()
    async with talking_daemon(paths, talker), opened_editor() as editor:
        buffer = editor.open(URI, "a\nb\n")
        session = await editor.edit(buffer, "x")
        await anyio.to_thread.run_sync(talker.gate.wait_reached)
        editor.close(buffer)
        again = editor.open(URI, "something else\n")
        talker.gate.open()
        assert "applied" != (await editor.finished(session))["status"]
        assert "something else\n" == again.text


async def test_a_file_that_is_deleted_meanwhile_is_not_made_again(
    paths: Paths, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The editor has the text, and the edit is of it; the disk is the editor's business."""
    file = tmp_path_factory.mktemp("work") / "a.py"
    file.write_text("a\n")
    talker = Talker()
    talker.reply = "B\n"
    talker.gate.shut()
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim")) as editor:
        buffer = editor.open(file.as_uri(), "a\n")
        session = await editor.edit(buffer, "x")
        await anyio.to_thread.run_sync(talker.gate.wait_reached)
        file.unlink()
        talker.gate.open()
        assert ("applied", "B\n") == ((await editor.finished(session))["status"], buffer.text)
        assert [] == list(file.parent.iterdir())


async def test_haste_ends_in_order(paths: Paths) -> None:
    """Asking, cancelling and asking again without a pause: every edit ends once, and the last one is applied."""
    talker = Talker()
    talker.reply = "B\n"
    talker.gate.shut()
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("vscode")) as editor:
        buffer = editor.open(URI, "a\n")
        sessions = [await editor.edit(buffer, "x")]
        for _ in range(10):
            await editor.command("plgd.cancel", session=sessions[-1])
            sessions.append((await editor.command("plgd.retry", session=sessions[-1]))["session"])
        for _ in range(10):
            # A retry takes the place of the edit that still runs.
            sessions.append((await editor.command("plgd.retry", session=sessions[-1]))["session"])
        talker.gate.open()
        ended = [(await editor.finished(session))["status"] for session in sessions]
        assert (["cancelled"] * 20 + ["applied"], "B\n", 1) == (ended, buffer.text, len(editor.edits))
        told = [params["session"] for name, params in editor.notes if name == "plgd/finished"]
        assert sorted(sessions) == sorted(told)
        idle = await editor.wait("plgd/status", lambda status: not status["busy"] and status["model"] == "m")
        assert "idle" == idle["kind"]


@pytest.mark.parametrize("ending", ["\r", "\r\n", "\n"])
@pytest.mark.parametrize("name", ["vscode", "emacs"])
async def test_characters_that_end_lines_elsewhere_stay_what_they_are(name: str, ending: str, paths: Paths) -> None:
    """Form feed, NEL and U+2028 stay inside their lines while the user types behind them, whatever ends the lines."""
    first, last = "a\f\x85\u2028 \U0001f600", "z\v\u2029"
    talker = Talker()
    talker.reply = "B\n"
    talker.gate.shut()
    async with talking_daemon(paths, talker), opened_editor(can=capabilities(name)) as editor:
        buffer = editor.open(URI, f"{first}{ending}b{ending}{last}{ending}end")
        span = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}}
        session = await editor.edit(buffer, "x", range=span)
        await anyio.to_thread.run_sync(talker.gate.wait_reached)
        editor.type(buffer, (3, 3), (3, 3), f"{ending}typed")
        talker.gate.open()
        assert "applied" == (await editor.finished(session))["status"]
        assert f"{first}{ending}B{ending}{last}{ending}end{ending}typed" == buffer.text
