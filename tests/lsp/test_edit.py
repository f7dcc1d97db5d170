"""`plgd.edit` from the command to the editor's buffer, as editors of every kind do it."""

from __future__ import annotations

import itertools
from typing import Any

import anyio
import pytest
from lsprotocol import types

from lsp.editor import Editor, capabilities, opened_editor
from lsp.talking import Talker, talking_daemon
from plgd.paths import Paths
from plgd.text.positions import Encoding

pytestmark = pytest.mark.anyio

URI = "file:///work/sum.py"
# What careless clients and servers spoil: emoji, tabs, CRLF, characters that end no line, no final newline.
OLD = "# \U0001f600 \u2028 total\x0c\r\ndef total(a):\r\n\ttotal = sum(a)\r\n\treturn total  # \U0001f600"
NEW = OLD.replace("total", "result")
SIX = "a\nb\nc\nd\ne\nf\n"
TWO_CHANGES = "a\nB\nc\nd\nE\nf\n"

RECORDED = [*itertools.product(["vscode", "neovim", "emacs"], [["utf-8", "utf-16"], ["utf-16"]])]


def span(first: int, last: int) -> dict[str, Any]:
    """Return the range of whole lines, counted from 0, `last` excluded."""
    return {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}


def progress_kinds(editor: Editor, token: str | int) -> list[str]:
    """Return what became of a progress."""
    reports: list[Any] = list(editor.client.progress_reports[token])  # pytest-lsp keeps their values
    return [report.kind for report in reports]


@pytest.mark.parametrize(("name", "encodings"), RECORDED)
async def test_every_editor_gets_one_exact_edit(name: str, encodings: list[Encoding], paths: Paths) -> None:
    """With its own capabilities and encoding, each editor gets one versioned edit, and progress."""
    talker = Talker()
    talker.reply = NEW
    can = capabilities(name)
    async with talking_daemon(paths, talker), opened_editor(can=can, encodings=encodings) as editor:
        assert encodings[0] == editor.encoding
        buffer = editor.open(URI, OLD)
        session = await editor.edit(buffer, "rename total to result")
        finished = await editor.finished(session)
        assert "applied" == finished["status"], finished
        assert (NEW, [OLD]) == (buffer.text, buffer.undo)
        (asked,) = editor.edits
        assert "plgd: rename total to result" == asked.label
        assert asked.edit.document_changes is not None
        (change,) = asked.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert 1 == change.text_document.version
        assert (asked.edit.change_annotations is not None) == (name == "vscode")
        kinds = progress_kinds(editor, f"plgd-{session}")
        assert ("begin", "end", {"report"}) == (kinds[0], kinds[-1], set(kinds[1:-1]))
        reports: list[Any] = list(editor.client.progress_reports[f"plgd-{session}"])
        assert "plgd: rename total to result" == reports[0].title
        assert any("tokens/s" in report.message for report in reports[1:-1])
        assert sorted(report.percentage for report in reports[:-1]) == [report.percentage for report in reports[:-1]]


async def test_an_editor_that_can_do_nothing_special(paths: Paths) -> None:
    """Without versioned edits, progress and annotations, the result still lands, and messages tell what happened."""
    talker = Talker()
    talker.reply = TWO_CHANGES
    async with talking_daemon(paths, talker), opened_editor() as editor:
        buffer = editor.open(URI, SIX)
        await editor.finished(await editor.edit(buffer, "upper case"))
        assert TWO_CHANGES == buffer.text
        assert editor.edits[0].edit.document_changes is None
        assert [] == editor.client.messages
        talker.reply = TWO_CHANGES
        assert "no_change" == (await editor.finished(await editor.edit(buffer, "upper case")))["status"]
        assert ["plgd: The model changed nothing."] == [message.message for message in editor.client.messages]
        assert {} == editor.client.progress_reports


async def test_only_the_selected_lines_may_change(paths: Paths) -> None:
    """A range is whole lines, and the edit's range on the wire is theirs."""
    talker = Talker()
    talker.reply = "B\n"
    async with talking_daemon(paths, talker), opened_editor() as editor:
        buffer = editor.open(URI, SIX)
        session = await editor.edit(buffer, "upper case", range=span(1, 2))
        assert "applied" == (await editor.finished(session))["status"]
        assert SIX.replace("b", "B") == buffer.text


async def test_typing_elsewhere_moves_the_edit(paths: Paths) -> None:
    """Lines typed above while the model works move the edit; nothing of them is lost."""
    talker = Talker()
    talker.reply = TWO_CHANGES
    talker.gate.shut()
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim")) as editor:
        buffer = editor.open(URI, SIX)
        session = await editor.edit(buffer, "upper case")
        await anyio.to_thread.run_sync(talker.gate.wait_reached)
        editor.type(buffer, (0, 0), (0, 0), "new\n\x0c\u2028\n")
        talker.gate.open()
        assert "applied" == (await editor.finished(session))["status"]
        assert f"new\n\x0c\u2028\n{TWO_CHANGES}" == buffer.text


async def test_typing_inside_keeps_the_edit_as_a_proposal(paths: Paths) -> None:
    """When the user changes the same lines meanwhile, nothing is applied; the rest can be accepted by hand."""
    talker = Talker()
    talker.reply = TWO_CHANGES
    talker.gate.shut()
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim")) as editor:
        buffer = editor.open(URI, SIX)
        session = await editor.edit(buffer, "upper case")
        await anyio.to_thread.run_sync(talker.gate.wait_reached)
        editor.type(buffer, (1, 0), (1, 1), "mine")
        talker.gate.open()
        finished = await editor.finished(session)
        assert "conflict" == finished["status"]
        assert "at line 2; nothing was applied" in finished["message"]
        assert (SIX.replace("b", "mine"), []) == (buffer.text, editor.edits)
        assert finished["message"] in editor.client.messages[-1].message
        proposal = editor.last("plgd/proposal")
        assert ["conflict", "open"] == [hunk["state"] for hunk in proposal["hunks"]]
        assert {"applied": [1], "left": [0]} == await editor.command("plgd.accept", session=session)
        assert TWO_CHANGES.replace("B", "mine") == buffer.text


async def test_a_stale_edit_is_made_anew_for_the_newer_text(paths: Paths) -> None:
    """An editor whose text is newer than the server knows refuses the edit, and gets one for its newer text."""
    talker = Talker()
    talker.reply = TWO_CHANGES
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim")) as editor:
        buffer = editor.open(URI, SIX)

        def type_once() -> None:
            editor.before_apply = lambda: None
            editor.type(buffer, (6, 0), (6, 0), "typed\n")

        editor.before_apply = type_once
        assert "applied" == (await editor.finished(await editor.edit(buffer, "upper case")))["status"]
        assert (2, f"{TWO_CHANGES}typed\n") == (len(editor.edits), buffer.text)


async def test_an_edit_that_was_dropped_without_a_word_is_made_anew(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor that drops a stale edit and says that it applied it gets one for its newer text."""
    monkeypatch.setattr("plgd_lsp.applying._CONFIRMATION_S", 0.05)
    talker = Talker()
    talker.reply = TWO_CHANGES
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim")) as editor:
        buffer = editor.open(URI, SIX)
        editor.drops_stale = True

        def type_once() -> None:
            editor.before_apply = lambda: None
            editor.type(buffer, (6, 0), (6, 0), "typed\n")

        editor.before_apply = type_once
        assert "applied" == (await editor.finished(await editor.edit(buffer, "upper case")))["status"]
        assert (2, f"{TWO_CHANGES}typed\n") == (len(editor.edits), buffer.text)


@pytest.mark.parametrize(("name", "kind"), [("Neovim", "Full"), ("Visual Studio Code", "Incremental")])
async def test_neovim_is_asked_for_whole_texts(name: str, kind: str, paths: Paths) -> None:
    """Neovim's incremental changes lose step with its text, so it is asked for the whole one."""
    del paths
    async with opened_editor(name=name) as editor:
        sync = editor.server.capabilities.text_document_sync
        assert isinstance(sync, types.TextDocumentSyncOptions)
        assert types.TextDocumentSyncKind[kind] == sync.change


async def test_applied_is_believed_only_when_the_text_shows_it(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that says `applied` and changes nothing is not believed; the edit is kept."""
    monkeypatch.setattr("plgd_lsp.applying._SILENCE_S", 0.05)
    talker = Talker()
    talker.reply = TWO_CHANGES
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim")) as editor:
        buffer = editor.open(URI, SIX)
        editor.is_mute = True
        finished = await editor.finished(await editor.edit(buffer, "upper case"))
        assert "failed" == finished["status"]
        assert "its text says otherwise" in finished["message"]
        assert ["open", "open"] == [hunk["state"] for hunk in editor.last("plgd/proposal")["hunks"]]


async def test_a_document_can_be_edited_again_and_again(paths: Paths) -> None:
    """The next edit begins with the text that the last one made, and with what was typed since."""
    talker = Talker()
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("emacs")) as editor:
        buffer = editor.open(URI, SIX)
        for letter in "abc":
            talker.reply = buffer.text.replace(letter, letter.upper())
            await editor.finished(await editor.edit(buffer, "upper case"))
            editor.type(buffer, (0, 0), (0, 0), "\t")
        assert "\t\t\tA\nB\nC\nd\ne\nf\n" == buffer.text


@pytest.mark.parametrize("way", ["progress", "command", "all"])
async def test_an_edit_can_be_cancelled(way: str, paths: Paths) -> None:
    """The editor's own cancel button and plgd's command end an edit between two rounds; the text stays."""
    talker = Talker()
    talker.reply = TWO_CHANGES
    talker.gate.shut()
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("vscode")) as editor:
        buffer = editor.open(URI, SIX)
        token = "mine"
        editor.client.progress_reports[token] = []
        session = await editor.edit(buffer, "upper case", workDoneToken=token)
        await anyio.to_thread.run_sync(talker.gate.wait_reached)
        if way == "progress":
            editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
        else:
            named = {"session": session} if way == "command" else {}
            assert {"cancelled": [session]} == await editor.command("plgd.cancel", **named)
        talker.gate.open()
        assert "cancelled" == (await editor.finished(session))["status"]
        assert (SIX, []) == (buffer.text, editor.edits)
        assert ("begin", "end") == (progress_kinds(editor, token)[0], progress_kinds(editor, token)[-1])


async def test_a_cancelled_edit_is_not_shown_as_work_for_ever(paths: Paths) -> None:
    """The daemon gives an edit up between two rounds, after the editor was told; once it rests, the status says so."""
    talker = Talker()
    talker.gate.shut()
    async with talking_daemon(paths, talker), opened_editor() as editor:
        session = await editor.edit(editor.open(URI, SIX), "upper case")
        await anyio.to_thread.run_sync(talker.gate.wait_reached)
        await editor.command("plgd.cancel")
        await editor.finished(session)
        await editor.wait("plgd/status", lambda status: status["busy"] and "session" not in status)
        talker.gate.open()
        await editor.wait("plgd/status", lambda _: not editor.last("plgd/status")["busy"])
        assert "idle" == (await editor.command("plgd.status"))["kind"]


async def test_a_key_binding_may_give_the_argument_in_parts(paths: Paths) -> None:
    """The document, the selection and the rest may be arguments of their own; progress goes to the request's token."""
    talker = Talker()
    talker.reply = "B\n"
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("vscode")) as editor:
        buffer = editor.open(URI, SIX)
        editor.client.progress_reports["theirs"] = []
        parts = [{"uri": URI}, {"instruction": "upper case"}, span(1, 2)]
        params = types.ExecuteCommandParams("plgd.edit", parts, work_done_token="theirs")  # noqa: S106  # no password
        await editor.client.workspace_execute_command_async(params)
        await editor.wait("plgd/finished")
        assert SIX.replace("b", "B") == buffer.text
        assert ("begin", "end") == (progress_kinds(editor, "theirs")[0], progress_kinds(editor, "theirs")[-1])


async def test_an_editor_that_never_answers_about_progress(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit does not wait for an editor to show progress."""
    monkeypatch.setattr("plgd_lsp.editor._PROGRESS_S", 0.01)
    talker = Talker()
    talker.reply = TWO_CHANGES
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("vscode")) as editor:
        over = anyio.Event()

        async def answer_late(_params: types.WorkDoneProgressCreateParams) -> None:
            await over.wait()

        editor.client.protocol.fm.features[types.WINDOW_WORK_DONE_PROGRESS_CREATE] = answer_late
        buffer = editor.open(URI, SIX)
        assert "applied" == (await editor.finished(await editor.edit(buffer, "upper case")))["status"]
        assert {} == editor.client.progress_reports
        over.set()


async def test_an_instruction_in_a_comment_goes_with_the_edit(paths: Paths) -> None:
    """A comment's instruction is carried out on the lines behind it, and the comment is gone with the same edit."""
    talker = Talker()
    talker.reply = "B\n"
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim")) as editor:
        buffer = editor.open(URI, "a\n# plgd: upper case\nb\n\nc\n")
        action, *_ = await editor.actions(buffer, (2, 0), (2, 0))
        assert ("plgd: upper case", "refactor.rewrite.plgd.comment") == (action["title"], action["kind"])
        answer = await editor.run(action)
        assert "applied" == (await editor.finished(answer["session"]))["status"]
        assert ("a\nB\n\nc\n", 1) == (buffer.text, len(editor.edits))
