"""`plgd.edit` from the command to the editor's buffer."""

from __future__ import annotations

import pytest

from lsp.editor import opened_editor
from lsp.talking import Talker, talking_daemon
from plgd.paths import Paths

pytestmark = pytest.mark.anyio

URI = "file:///work/sum.py"
OLD = "def total(a):\n    total = sum(a)\n    return total\n"
NEW = "def total(a):\n    result = sum(a)\n    return result\n"


async def test_an_edit_lands_in_the_buffer_as_one_step(paths: Paths) -> None:
    """The result arrives as one workspace edit; one undo restores the text."""
    talker = Talker()
    talker.reply = NEW
    async with talking_daemon(paths, talker), opened_editor() as editor:
        buffer = editor.open(URI, OLD)
        session = await editor.edit(buffer, "rename total to result")
        assert "applied" == (await editor.finished(session))["status"]
        assert (NEW, [OLD], 1) == (buffer.text, buffer.undo, len(editor.edits))
