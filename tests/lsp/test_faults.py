"""Daemons that are absent, old, killed or restarted, and texts and requests that cannot be edited."""

from __future__ import annotations

import asyncio
import os
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp.editor import PATIENCE_S, capabilities, opened_editor
from lsp.talking import Talker, talking_daemon
from plgd.client import Client, connect
from plgd.config import Config, DaemonConfig
from plgd.documents.open import OpenDocuments, Opened
from plgd.errors import OutOfSync
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.documents import OpenDocumentInfo
from plgd.protocol.methods import DOCUMENT_LIST, STATUS
from plgd.text.fingerprint import fingerprint
from plgd_lsp.sync import Sync

pytestmark = pytest.mark.anyio

URI = "file:///work/a.py"
TESTS = Path(__file__).parents[1]


async def held_documents(paths: Paths, n_documents: int) -> tuple[OpenDocumentInfo, ...]:
    """Wait until the daemon holds so many documents, and return them."""
    with anyio.fail_after(PATIENCE_S):
        async with connect(paths, client="test", start=False) as client:
            while True:
                documents = (await client.call(DOCUMENT_LIST, NoParams())).documents
                if len(documents) == n_documents:
                    return documents


async def held_text(paths: Paths, text: str) -> None:
    """Wait until the daemon's first document is a text."""
    with anyio.fail_after(PATIENCE_S):
        async with connect(paths, client="test", start=False) as client:
            while True:
                documents = (await client.call(DOCUMENT_LIST, NoParams())).documents
                if documents and documents[0].fingerprint == fingerprint(text.encode()):
                    return


async def test_a_restarted_daemon_gets_the_documents_again(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a restart, what the editor has open is open in the new daemon, as it is by then, and can be edited."""
    monkeypatch.setattr("plgd_lsp.link._LOOK_AGAIN_S", 0.01)
    talker = Talker()
    talker.reply = "B\n"
    async with opened_editor(can=capabilities("neovim")) as editor:
        async with talking_daemon(paths, talker):
            buffer = editor.open(URI, "a\n")
            editor.open("file:///work/untouched.py", "")
            await held_documents(paths, 2)
        await editor.wait("plgd/status", lambda status: status["kind"] == "absent")
        editor.type(buffer, (0, 0), (0, 1), "b")
        async with talking_daemon(paths, talker):
            assert {0, 2} == {document.n_bytes for document in await held_documents(paths, 2)}
            assert "applied" == (await editor.finished(await editor.edit(buffer, "upper case")))["status"]
            assert "B\n" == buffer.text


async def test_documents_follow_the_editor(paths: Paths) -> None:
    """Opening, typing and closing reach the daemon, so that the document is warm before anybody asks."""
    async with talking_daemon(paths, Talker()), opened_editor() as editor:
        buffer = editor.open(URI, "a\n")
        for letter in "bcd":
            await held_text(paths, buffer.text)
            editor.type(buffer, (0, 0), (0, 0), letter)
        await held_text(paths, "dcba\n")
        other = editor.open("untitled:x", "")
        await held_documents(paths, 2)
        editor.close(other)
        assert URI == (await held_documents(paths, 1))[0].uri


async def test_a_daemon_that_lost_step_gets_the_whole_text(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the daemon finds that a change does not fit, it is told the whole text, and edits go on."""
    change = OpenDocuments.change
    refusals = iter([True])

    def refuse_once(documents: OpenDocuments, *arguments: Any, **more: Any) -> Opened:  # noqa: ANN401  # handed on
        if next(refusals, False):
            raise OutOfSync.of_text(URI)
        return change(documents, *arguments, **more)

    monkeypatch.setattr(OpenDocuments, "change", refuse_once)
    talker = Talker()
    talker.reply = "B\n"
    async with talking_daemon(paths, talker), opened_editor() as editor:
        buffer = editor.open(URI, "a\n")
        await held_text(paths, "a\n")
        editor.type(buffer, (0, 0), (0, 1), "b")
        await held_text(paths, "b\n")
        assert "applied" == (await editor.finished(await editor.edit(buffer, "upper case")))["status"]
        assert "B\n" == buffer.text


async def test_what_is_typed_before_the_daemon_is_asked_moves_the_lines(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request means the lines that were selected, wherever they are when the daemon can be asked."""
    push, may_push = Sync.push, anyio.Event()

    async def push_later(sync: Sync, client: Client, uri: str) -> None:
        await may_push.wait()
        await push(sync, client, uri)

    monkeypatch.setattr(Sync, "push", push_later)
    talker = Talker()
    talker.reply = "B\n"
    async with talking_daemon(paths, talker), opened_editor() as editor:
        buffer = editor.open(URI, "a\nb\n")
        span = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}}
        session = await editor.edit(buffer, "upper case", range=span)
        editor.type(buffer, (0, 0), (0, 0), "new\nnew\n")
        # Answered when everything before it was taken in.
        await editor.actions(buffer, (0, 0), (0, 0))
        may_push.set()
        assert "applied" == (await editor.finished(session))["status"]
        assert "new\nnew\na\nB\n" == buffer.text


async def test_no_edit_is_made_of_another_text(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the daemon has another text than the editor, whatever the reason, nothing is edited, and it is said."""
    talker = Talker()
    talker.reply = "B\n"
    async with talking_daemon(paths, talker), opened_editor() as editor:
        buffer = editor.open(URI, "a\n")
        await held_text(paths, "a\n")

        async def push_nothing(_sync: Sync, _client: Client, _uri: str) -> None:
            await anyio.lowlevel.checkpoint()

        monkeypatch.setattr(Sync, "push", push_nothing)
        editor.type(buffer, (0, 0), (0, 1), "b")
        finished = await editor.finished(await editor.edit(buffer, "x"))
        assert ("failed", "b\n", []) == (finished["status"], buffer.text, editor.edits)


@pytest.mark.usefixtures("user")
async def test_a_daemon_that_is_killed_in_the_middle() -> None:
    """The user is told that the daemon is gone; the text is as it was, and the editor's server lives."""
    process = await anyio.open_process(
        [sys.executable, str(TESTS / "server/scripted_daemon.py")],
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        stderr=None,
    )
    async with process, opened_editor(can=capabilities("neovim")) as editor:
        assert process.stdout is not None
        assert b"ready\n" == await process.stdout.receive()
        buffer = editor.open(URI, "a\n")
        session = await editor.edit(buffer, "x")
        await editor.wait("plgd/status", lambda status: status["kind"] == "busy" and status.get("session") == session)
        process.kill()
        finished = await editor.finished(session)
        assert ("failed", "a\n") == (finished["status"], buffer.text)
        assert "daemon" in finished["message"]
        assert [] != await editor.actions(buffer, (0, 0), (0, 0))


async def test_a_daemon_is_started_by_need_and_says_what_is_missing(user: Paths) -> None:
    """Opening a document starts the daemon; an edit without a model on the machine says how to fetch one."""
    async with opened_editor() as editor:
        buffer = editor.open(URI, "a\n")
        assert "starting" == (await editor.wait("plgd/status"))["kind"]
        await editor.wait("plgd/status", lambda status: status["kind"] == "idle")
        finished = await editor.finished(await editor.edit(buffer, "x"))
        assert "failed" == finished["status"]
        assert "plgd model pull builtin" in finished["message"]
        assert types.MessageType.Error == editor.client.messages[-1].type
        async with connect(user, client="test", start=False) as client:
            assert "idle" == (await client.call(STATUS, NoParams())).state


async def test_a_daemon_that_cannot_be_started_is_told(user: Paths) -> None:
    """With a configuration that cannot be used, an edit fails with the reason, and the status shows it."""
    paths = user
    paths.config_dir.mkdir(parents=True)
    paths.config_file.write_text("[engine]\nmax_daft = 3\n")
    async with opened_editor() as editor:
        buffer = editor.open(URI, "a\n")
        finished = await editor.finished(await editor.edit(buffer, "x"))
        assert ("failed", True) == (finished["status"], "did you mean `engine.max_draft`" in finished["message"])
        assert "error" == (await editor.command("plgd.status"))["kind"]
        paths.config_file.unlink()
        talker = Talker()
        talker.reply = "b\n"
        async with talking_daemon(paths, talker):
            assert "applied" == (await editor.finished(await editor.edit(buffer, "x")))["status"]


async def test_a_model_that_is_being_loaded_is_shown(paths: Paths) -> None:
    """While the model is loaded, status and progress say how far it is; then the edit goes on."""
    talker = Talker()
    talker.reply = "b\n"
    talker.load_gate.shut()
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("vscode")) as editor:
        buffer = editor.open(URI, "a\n")
        session = await editor.edit(buffer, "x")
        status = await editor.wait("plgd/status", lambda status: status["kind"] == "loading")
        assert (True, session, True) == (status["busy"], status["session"], 0 <= status["percent"] <= 100)
        talker.load_gate.open()
        assert "applied" == (await editor.finished(session))["status"]
        reports: list[Any] = list(editor.client.progress_reports[f"plgd-{session}"])
        assert any("Loads the model" in report.message for report in reports[1:])
        idle = await editor.wait("plgd/status", lambda status: status["kind"] == "idle" and status["model"] == "m")
        assert not idle["busy"]


async def test_a_newer_daemon_is_told(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon of another version is named, with both versions."""
    monkeypatch.setattr("plgd.server.handlers.__version__", "99.0")
    monkeypatch.setattr("plgd.server.handlers.PROTOCOL_VERSION", 99)
    async with talking_daemon(paths, Talker()), opened_editor() as editor:
        buffer = editor.open(URI, "a\n")
        finished = await editor.finished(await editor.edit(buffer, "x"))
        assert ("failed", True) == (finished["status"], "99.0" in finished["message"])


async def test_a_full_queue_is_told(paths: Paths) -> None:
    """When the daemon takes no more edits, the edit fails with its words."""
    talker = Talker()
    talker.gate.shut()
    config = Config(daemon=DaemonConfig(queue_limit=1))
    async with talking_daemon(paths, talker, config), opened_editor() as editor:
        first, second = editor.open(URI, "a\n"), editor.open("file:///work/b.py", "b\n")
        running = await editor.edit(first, "x")
        await anyio.to_thread.run_sync(talker.gate.wait_reached)
        finished = await editor.finished(await editor.edit(second, "x"))
        assert ("failed", True) == (finished["status"], "1" in finished["message"])
        talker.gate.open()
        await editor.finished(running)


async def test_a_newer_edit_of_the_same_lines_takes_over(paths: Paths) -> None:
    """The older edit is cancelled and says so; the newer one is carried out."""
    talker = Talker()
    talker.reply = "B\n"
    talker.gate.shut()
    async with talking_daemon(paths, talker), opened_editor() as editor:
        buffer = editor.open(URI, "a\n")
        first = await editor.edit(buffer, "x")
        await anyio.to_thread.run_sync(talker.gate.wait_reached)
        second = await editor.edit(buffer, "y")
        await editor.wait("plgd/status", lambda status: status.get("session") == second)
        talker.gate.open()
        assert ["cancelled", "applied"] == [(await editor.finished(one))["status"] for one in (first, second)]
        assert "B\n" == buffer.text


async def test_two_editors_have_texts_of_their_own(paths: Paths) -> None:
    """Two editors with the same file each edit what they hold."""
    talker = Talker()
    async with talking_daemon(paths, talker), opened_editor() as one, opened_editor() as other:
        mine, theirs = one.open(URI, "a\n"), other.open(URI, "b\n")
        talker.reply = "A\n"
        assert "applied" == (await one.finished(await one.edit(mine, "x")))["status"]
        talker.reply = "B\n"
        assert "applied" == (await other.finished(await other.edit(theirs, "x")))["status"]
        assert ("A\n", "B\n") == (mine.text, theirs.text)


async def test_cells_of_a_notebook_are_documents(paths: Paths) -> None:
    """A cell can be opened with its notebook, changed, added, and edited as any document."""
    talker = Talker()
    talker.reply = "bb\n"
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim")) as editor:
        first, second = "notebook-cell:/n.ipynb#1", "notebook-cell:/n.ipynb#2"
        buffer = editor.note(first, "a", "file:///n.ipynb")
        cell = types.NotebookCell(types.NotebookCellKind.Code, first)
        editor.client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument("file:///n.ipynb", "jupyter-notebook", 1, [cell]),
                [types.TextDocumentItem(first, "python", 1, "a")],
            )
        )
        assert "applied" == (await editor.finished(await editor.edit(buffer, "x")))["status"]
        assert "bb" == buffer.text.rstrip("\n")
        added = editor.note(second, "c", "file:///n.ipynb")
        editor.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(2, "file:///n.ipynb"),
                types.NotebookDocumentChangeEvent(
                    cells=types.NotebookDocumentCellChanges(
                        structure=types.NotebookDocumentCellChangeStructure(
                            types.NotebookCellArrayChange(
                                1, 0, [types.NotebookCell(types.NotebookCellKind.Code, second)]
                            ),
                            did_open=[types.TextDocumentItem(second, "python", 1, "c")],
                            did_close=[types.TextDocumentIdentifier(first)],
                        )
                    )
                ),
            )
        )
        assert "applied" == (await editor.finished(await editor.edit(added, "x")))["status"]
        assert "bb" == added.text.rstrip("\n")
        with pytest.raises(JsonRpcException, match="not open"):
            await editor.edit(buffer, "x")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"uri": "file:///never"}, "file:///never is not open in the editor"),
    ({"uri": URI, "instruction": " \n"}, "The instruction is blank"),
    ({"uri": URI, "range": [[1, 0], [0, 0]]}, "the range is reversed"),
    ({"uri": URI, "range": [[7, 0], [9, 0]]}, "nothing on line 8 to edit: the text has 1 lines"),
    ({"uri": URI, "range": "all"}, "range"),
    ({"uri": URI, "range": [[-1, 0], [0, 0]]}, "range.start.line"),
    ({"uri": 7}, "uri"),
    ({"uri": URI, "review": "maybe"}, "review"),
    ({"uri": URI, "instructions": "x"}, "instructions"),
]


async def test_bad_requests_are_told(paths: Paths) -> None:
    """Each mistake in an edit's arguments is answered in words, and nothing is begun."""
    del paths
    async with opened_editor() as editor:
        editor.open(URI, "a\n")
        for arguments, words in BAD:
            given = {"instruction": "x", **arguments}
            if isinstance(given.get("range"), list):
                (first, second), (third, fourth) = given["range"]
                given["range"] = {
                    "start": {"line": first, "character": second},
                    "end": {"line": third, "character": fourth},
                }
            with pytest.raises(JsonRpcException, match=words):
                await editor.command("plgd.edit", **given)
        with pytest.raises(JsonRpcException, match=r"no command 'plgd\.delete'"):
            await editor.command("plgd.delete")


@pytest.mark.parametrize(
    ("reply", "status", "words"),
    [
        ("", "rejected_output", ""),
        ("a\n", "no_change", "The model changed nothing."),
    ],
)
async def test_what_cannot_be_used_changes_nothing(reply: str, status: str, words: str, paths: Paths) -> None:
    """A reply that a guard refuses, and one that changes nothing, end the edit with a message."""
    talker = Talker()
    talker.reply = reply
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("emacs")) as editor:
        buffer = editor.open(URI, "a\n" if reply else "a\nb\nc\nd\ne\nf\ng\nh\n")
        finished = await editor.finished(await editor.edit(buffer, "x"))
        assert (status, True, []) == (finished["status"], words in finished["message"], editor.edits)
        assert finished["message"] in editor.client.messages[-1].message


async def test_a_request_that_means_nothing_is_answered(paths: Paths) -> None:
    """Parameters that cannot be decoded are an error for that request alone."""
    del paths
    async with opened_editor() as editor:
        buffer = editor.open(URI, "a\n")
        answer: Future[Any] = Future()
        editor.client.protocol._request_futures["bad"] = answer
        editor.client.protocol._send_data(
            {"jsonrpc": "2.0", "id": "bad", "method": "textDocument/codeAction", "params": {"range": 1}}
        )
        with pytest.raises(JsonRpcException, match="not what the protocol says") as refused:
            await asyncio.wait_for(asyncio.wrap_future(answer), PATIENCE_S)
        assert -32602 == refused.value.code
        assert [] != await editor.actions(buffer, (0, 0), (0, 0))
