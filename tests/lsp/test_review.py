"""Review mode: hunks accepted and rejected one by one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp.editor import Buffer, Editor, capabilities, opened_editor
from lsp.talking import Talker, talking_daemon
from plgd.paths import Paths

pytestmark = pytest.mark.anyio

URI = "file:///work/six.txt"
SIX = "a\nb\nc\nd\ne\nf\n"
TWO_CHANGES = "a\nB\nc\nd\nE\nf\n"
PLUG_IN = {"plgd": {"proposals": True}}


def neovim() -> types.ClientCapabilities:
    """Return what Neovim with plgd's plug-in says."""
    can = capabilities("neovim")
    can.experimental = PLUG_IN
    return can


def hunk_states(proposal: dict[str, Any]) -> list[str]:
    """Return the states of a proposal's hunks."""
    return [hunk["state"] for hunk in proposal["hunks"]]


@asynccontextmanager
async def proposed(paths: Paths, reply: str = TWO_CHANGES) -> AsyncIterator[tuple[Editor, Buffer, str]]:
    """Have an edit of the six lines proposed."""
    talker = Talker()
    talker.reply = reply
    options = {"review": "preview"}
    async with talking_daemon(paths, talker), opened_editor(can=neovim(), options=options) as editor:
        buffer = editor.open(URI, SIX, language="plaintext")
        session = await editor.edit(buffer, "upper case")
        assert "proposed" == (await editor.finished(session))["status"]
        yield editor, buffer, session


async def test_a_proposal_says_everything(paths: Paths) -> None:
    """Nothing is applied; the proposal has the hunks, their places, both texts and the counts of the edit."""
    async with proposed(paths) as (editor, buffer, session):
        shown = editor.last("plgd/proposal")
        assert (SIX, [], []) == (buffer.text, editor.edits, editor.client.messages)
        assert (session, URI, 1, "upper case", None) == tuple(
            shown[key] for key in ("session", "uri", "version", "instruction", "range")
        )
        assert (TWO_CHANGES, []) == (shown["newText"], shown["warnings"])
        assert 0 < shown["stats"]["output_tokens"]
        assert {
            "id": 1,
            "range": {"start": {"line": 4, "character": 0}, "end": {"line": 5, "character": 0}},
            "oldText": "e\n",
            "newText": "E\n",
            "state": "open",
        } == shown["hunks"][1]


async def test_hunks_are_accepted_and_rejected_one_by_one(paths: Paths) -> None:
    """Each accepted hunk is one edit; what is left, and the newest states, are told."""
    async with proposed(paths) as (editor, buffer, session):
        assert {"applied": [1], "left": [0]} == await editor.command("plgd.accept", session=session, hunks=[1])
        assert SIX.replace("e", "E") == buffer.text
        assert ["open", "accepted"] == hunk_states(editor.last("plgd/proposal"))
        assert {"left": []} == await editor.command("plgd.reject", session=session, hunks=[0])
        assert ["rejected", "accepted"] == hunk_states(editor.last("plgd/proposal"))
        assert {"applied": [0], "left": []} == await editor.command("plgd.accept", session=session, hunks=[0])
        assert (TWO_CHANGES, [SIX, SIX.replace("e", "E")]) == (buffer.text, buffer.undo)


async def test_all_hunks_at_once_are_one_edit(paths: Paths) -> None:
    """Accepting everything takes one step to undo; rejected hunks are left out."""
    async with proposed(paths) as (editor, buffer, session):
        assert {"applied": [0, 1], "left": []} == await editor.command("plgd.accept", session=session)
        assert (TWO_CHANGES, [SIX]) == (buffer.text, buffer.undo)
    async with proposed(paths) as (editor, buffer, session):
        await editor.command("plgd.reject", session=session, hunks=[0])
        assert {"applied": [1], "left": []} == await editor.command("plgd.accept", session=session)
        assert SIX.replace("e", "E") == buffer.text


async def test_a_proposal_follows_its_text(paths: Paths) -> None:
    """After typing, the proposal is sent again with the places and states of its hunks."""
    async with proposed(paths) as (editor, buffer, session):
        editor.type(buffer, (0, 0), (0, 0), "above\n")
        moved = await editor.wait("plgd/proposal", lambda shown: shown["version"] == 2)
        assert [2, 5] == [hunk["range"]["start"]["line"] for hunk in moved["hunks"]]
        editor.type(buffer, (2, 0), (2, 1), "mine")
        clashing = await editor.wait("plgd/proposal", lambda shown: shown["version"] == 3)
        assert ["conflict", "open"] == hunk_states(clashing)
        with pytest.raises(JsonRpcException, match="changed at line 3 since") as refused:
            await editor.command("plgd.accept", session=session, hunks=[0])
        assert -32803 == refused.value.code
        assert {"applied": [1], "left": [0]} == await editor.command("plgd.accept", session=session)
        assert "above\na\nmine\nc\nd\nE\nf\n" == buffer.text


async def test_an_undo_opens_the_hunk_again(paths: Paths) -> None:
    """When the user takes an accepted hunk back, it can be accepted again."""
    async with proposed(paths) as (editor, buffer, session):
        await editor.command("plgd.accept", session=session, hunks=[0])
        editor.replace(buffer, SIX)
        again = await editor.wait("plgd/proposal", lambda shown: shown["version"] == 3)
        assert ["open", "open"] == hunk_states(again)
        assert {"applied": [0, 1], "left": []} == await editor.command("plgd.accept", session=session)


async def test_retry_asks_again_for_the_same_lines(paths: Paths) -> None:
    """Another try is a new session about the same lines, wherever they are now, with other words if wanted."""
    talker = Talker()
    talker.reply = "B\n"
    options = {"review": "preview"}
    async with talking_daemon(paths, talker), opened_editor(can=neovim(), options=options) as editor:
        buffer = editor.open(URI, SIX, language="plaintext")
        span = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
        first = await editor.edit(buffer, "upper case", range=span)
        await editor.finished(first)
        editor.type(buffer, (0, 0), (0, 0), "above\n")
        talker.reply = "BB\n"
        second = (await editor.command("plgd.retry", session=first, instruction="double it"))["session"]
        assert first != second
        await editor.finished(second)
        shown = editor.last("plgd/proposal")
        assert (second, "double it", 2) == (shown["session"], shown["instruction"], shown["range"]["start"]["line"])
        await editor.command("plgd.accept", session=second)
        assert "above\na\nBB\nc\nd\ne\nf\n" == buffer.text


async def test_without_a_plug_in_the_editor_asks_its_user(paths: Paths) -> None:
    """An editor with annotated edits shows the preview itself; declined, the edit stays a proposal."""
    talker = Talker()
    talker.reply = TWO_CHANGES
    options = {"review": "preview"}
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("vscode"), options=options) as editor:
        buffer = editor.open(URI, SIX, language="plaintext")
        assert "applied" == (await editor.finished(await editor.edit(buffer, "upper case")))["status"]
        annotations = editor.edits[0].edit.change_annotations
        assert annotations is not None
        assert [True] == [annotation.needs_confirmation for annotation in annotations.values()]
        editor.replace(buffer, SIX)
        editor.declines = True
        finished = await editor.finished(await editor.edit(buffer, "upper case"))
        assert "proposed" == finished["status"]
        assert SIX == buffer.text


async def test_any_editor_can_review(paths: Paths) -> None:
    """Without a plug-in, hunks are hints, and code actions accept and reject them, here or all."""
    talker = Talker()
    talker.reply = TWO_CHANGES
    options = {"review": "preview"}
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim"), options=options) as editor:
        buffer = editor.open(URI, SIX, language="plaintext")
        finished = await editor.finished(await editor.edit(buffer, "upper case"))
        assert ("proposed", True) == (finished["status"], "Code actions" in finished["message"])
        hints = editor.client.diagnostics[URI]
        assert [(1, "plgd proposes:\nB"), (4, "plgd proposes:\nE")] == [
            (hint.range.start.line, hint.message) for hint in hints
        ]
        context = types.CodeActionContext(hints, only=["quickfix"])
        offered = await editor.actions(buffer, (4, 0), (4, 0), context)
        assert ["Accept this change", "Accept all 2 changes", "Reject this change", "Reject all 2 changes"] == [
            action["title"].removeprefix("plgd: ") for action in offered
        ]
        assert {"applied": [1], "left": [0]} == await editor.run(offered[0])
        assert SIX.replace("e", "E") == buffer.text
        assert [1] == [hint.range.start.line for hint in editor.client.diagnostics[URI]]
        (_, reject) = await editor.actions(buffer, (0, 0), (0, 0), types.CodeActionContext([], only=["quickfix"]))
        assert {"left": []} == await editor.run(reject)
        assert [] == list(editor.client.diagnostics[URI])
        assert [] == await editor.actions(buffer, (0, 0), (0, 0), types.CodeActionContext([], only=["quickfix"]))


async def test_hints_go_with_their_document(paths: Paths) -> None:
    """Closing a document takes its hints away."""
    talker = Talker()
    talker.reply = TWO_CHANGES
    options = {"review": "preview"}
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim"), options=options) as editor:
        buffer = editor.open(URI, SIX, language="plaintext")
        await editor.finished(await editor.edit(buffer, "upper case"))
        assert 2 == len(editor.client.diagnostics[URI])
        editor.close(buffer)
        assert "idle" == (await editor.command("plgd.status"))["kind"]
        assert [] == list(editor.client.diagnostics[URI])


async def test_one_edit_may_be_reviewed_alone(paths: Paths) -> None:
    """`review` in the command goes before the editor's setting."""
    talker = Talker()
    talker.reply = TWO_CHANGES
    async with talking_daemon(paths, talker), opened_editor(can=neovim()) as editor:
        buffer = editor.open(URI, SIX, language="plaintext")
        assert "proposed" == (await editor.finished(await editor.edit(buffer, "x", review="preview")))["status"]
        assert "applied" == (await editor.finished(await editor.edit(buffer, "x")))["status"]


async def test_a_closed_document_takes_its_proposals_along(paths: Paths) -> None:
    """A proposal is for one document and one opening of it; afterwards it cannot be accepted in another text."""
    async with proposed(paths) as (editor, buffer, session):
        editor.close(buffer)
        with pytest.raises(JsonRpcException, match="nothing to accept or reject"):
            await editor.command("plgd.accept", session=session)
        editor.open(URI, SIX, language="plaintext")
        with pytest.raises(JsonRpcException, match="nothing to accept or reject"):
            await editor.command("plgd.accept", session=session)


@pytest.mark.parametrize(
    ("command", "arguments", "code", "words"),
    [
        ("plgd.accept", {"session": "?"}, -32803, "no edit '?'"),
        ("plgd.reject", {"session": "?"}, -32803, "no edit '?'"),
        ("plgd.retry", {"session": "?"}, -32803, "no edit '?'"),
        ("plgd.cancel", {"session": "?"}, -32803, "no edit '?'"),
        ("plgd.accept", {"hunks": [0]}, -32602, "missing required field `session`"),
        ("plgd.accept", {"session": "OWN", "hunks": [2]}, -32602, "no hunk 2; the edit has 2"),
        ("plgd.reject", {"session": "OWN", "hunks": [-1]}, -32602, "no hunk -1; the edit has 2"),
        ("plgd.reject", {"session": "OWN", "hunks": "all"}, -32602, "hunks"),
        ("plgd.retry", {"session": "OWN", "instruction": " "}, -32602, "The instruction is blank"),
        ("plgd.cancel", {"sesion": "OWN"}, -32602, "sesion"),
    ],
)
async def test_bad_arguments_are_told(
    command: str, arguments: dict[str, object], code: int, words: str, paths: Paths
) -> None:
    """Each mistake in a command's arguments is an error that names it."""
    async with proposed(paths) as (editor, _, session):
        given = {key: session if value == "OWN" else value for key, value in arguments.items()}
        with pytest.raises(JsonRpcException, match=words) as refused:
            await editor.command(command, **given)
        assert code == refused.value.code
