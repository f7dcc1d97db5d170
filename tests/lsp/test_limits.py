"""Texts that cannot be sent or edited, and changes that nobody takes."""

from __future__ import annotations

import pytest
from lsprotocol import types

from lsp.editor import opened_editor
from lsp.talking import Talker, talking_daemon
from plgd.client import connect
from plgd.config import Config, DaemonConfig
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.methods import DOCUMENT_LIST
from plgd_lsp.mirror import Mirror
from plgd_lsp.sync import Sync

pytestmark = pytest.mark.anyio

URI = "file:///work/a.py"


@pytest.mark.parametrize("way", ["opened", "typed"])
async def test_a_text_that_is_too_long_for_a_message_spares_the_other_documents(way: str, paths: Paths) -> None:
    """The daemon would end the connection, again and again; so the text is not sent, and the user is told its size."""
    config = Config(daemon=DaemonConfig(frame_limit=64 * 1024))
    talker = Talker()
    async with talking_daemon(paths, talker, config), opened_editor(config=config) as editor:
        long = "\u2028 line\r\n" * 8_000
        buffer = editor.open(URI, long if way == "opened" else "")
        other = editor.open("file:///work/fine.py", "a\n")
        await editor.wait("plgd/status", lambda status: status["kind"] == "idle")
        if way == "typed":
            editor.replace(buffer, long)
        finished = await editor.finished(await editor.edit(buffer, "x"))
        assert ("failed", True) == (finished["status"], finished["message"].startswith(f"{URI} is larger than"))
        async with connect(paths, client="test") as client:
            # What it had of it before would be taken for the editor's text.
            assert [other.uri] == [held.uri for held in (await client.call(DOCUMENT_LIST, NoParams())).documents]
        talker.reply = "b\n"
        assert "applied" == (await editor.finished(await editor.edit(other, "x")))["status"]
        assert "absent" not in [status["kind"] for name, status in editor.notes if name == "plgd/status"]
        editor.replace(buffer, "a\n")
        assert "applied" == (await editor.finished(await editor.edit(buffer, "x")))["status"]


async def test_what_is_typed_without_a_daemon_is_not_kept_twice() -> None:
    """The next daemon gets the whole text, so that the changes until then need not be kept, however many they are."""
    mirror = Mirror()
    mirror.open(types.TextDocumentItem(URI, "python", 1, "a\n"))
    sync = Sync(mirror, frame_limit=DaemonConfig().frame_limit)
    sync.note_open(URI)
    for version in range(2, 1000):
        change = types.TextDocumentContentChangeWholeDocument("a" * version)
        sync.note_change(URI, mirror.change(URI, version, [change]))
    assert 0 == sync.n_pending


@pytest.mark.parametrize(
    ("text", "words"),
    [("a\0b\n", "NUL"), ("a\ud83d\n", "not UTF-8"), ("x" * (2 << 20), "")],
    ids=["binary", "half a character", "huge"],
)
async def test_texts_that_cannot_be_edited_are_told(text: str, words: str, paths: Paths) -> None:
    """A text that the daemon or the model cannot take is refused when it is to be edited, and can be typed in."""
    async with talking_daemon(paths, Talker()), opened_editor() as editor:
        buffer = editor.open(URI, text)
        finished = await editor.finished(await editor.edit(buffer, "x"))
        assert ("failed", True) == (finished["status"], words in finished["message"])
        talking = editor.open("file:///work/fine.py", "a\n")
        assert "failed" != (await editor.finished(await editor.edit(talking, "x")))["status"]


async def test_half_a_character_that_is_typed_is_no_end(paths: Paths) -> None:
    """It is refused when it is to be edited, and once it is gone the text can be edited again."""
    talker = Talker()
    talker.reply = "b\n"
    async with talking_daemon(paths, talker), opened_editor() as editor:
        buffer = editor.open(URI, "a\n")
        assert "applied" == (await editor.finished(await editor.edit(buffer, "x")))["status"]
        for place, half in (((0, 1), "\ud83d"), ((1, 0), "\ud83d!")):
            editor.type(buffer, place, place, half)
            finished = await editor.finished(await editor.edit(buffer, "x"))
            assert ("failed", True) == (finished["status"], "not UTF-8" in finished["message"])
        editor.replace(buffer, "a\U0001f600\n")
        assert "applied" == (await editor.finished(await editor.edit(buffer, "x")))["status"]
