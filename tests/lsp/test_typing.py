"""A user who goes on typing while edits run, at random."""

from __future__ import annotations

import random

import anyio
import pytest

from lsp.editor import Buffer, Editor, capabilities, opened_editor
from lsp.talking import Talker, talking_daemon
from lsp.texts import position_of
from plgd.paths import Paths
from plgd.text.lines import split_lines

pytestmark = pytest.mark.anyio

N_EDITS = 10
LINES = [f"line {name}\n" for name in "abcdefghijkl"]


class Typist:
    """Types at random and remembers what.

    Attributes:
        typed: what must be in the text in the end.
    """

    def __init__(self, editor: Editor, buffer: Buffer, seed: int) -> None:
        self.typed: list[str] = []
        self._editor = editor
        self._buffer = buffer
        self._random = random.Random(seed)  # noqa: S311  # draws that a seed repeats

    def type(self, n_most: int) -> None:
        """Insert lines, or write behind some."""
        for _ in range(self._random.randint(0, n_most)):
            lines = split_lines(self._buffer.text)
            line = self._random.randrange(len(lines))
            word = f"\u2028typed {len(self.typed)}.\x0c\U0001f600"
            self.typed.append(word)
            if self._random.random() < 0.5:
                self._editor.type(self._buffer, (line, 0), (line, 0), f"{word}\n")
            else:
                body = lines[line].rstrip("\n")
                end = position_of(body, len(body), self._editor.encoding).character
                self._editor.type(self._buffer, (line, end), (line, end), word)


@pytest.mark.parametrize("seed", range(2))
async def test_nothing_that_is_typed_is_lost(seed: int, paths: Paths) -> None:
    """Whatever is typed while the model works and while the edit lands stays, and edits land whole or not at all."""
    talker = Talker()
    chance = random.Random(seed)  # noqa: S311  # draws that a seed repeats
    ended: set[str] = set()
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("neovim")) as editor:
        buffer = editor.open("file:///work/lines.txt", "".join(LINES), language="plaintext")
        typist = Typist(editor, buffer, seed)
        for number in range(N_EDITS):
            editor.replace(buffer, "".join(LINES))
            typist.typed.clear()
            chosen = set(chance.sample(LINES, 3))
            talker.reply = "".join(line.upper() if line in chosen else line for line in LINES)
            talker.gate.shut()
            session = await editor.edit(buffer, f"upper case {number}")
            await anyio.to_thread.run_sync(talker.gate.wait_reached)
            typist.type(3)
            editor.before_apply = lambda: typist.type(1)
            talker.gate.open()
            finished = await editor.finished(session)
            editor.before_apply = lambda: None
            ended.add(finished["status"])
            landed = {line for line in chosen if line.upper().rstrip("\n") in buffer.text}
            assert landed == (chosen if finished["status"] == "applied" else set()), finished
            assert [] == [word for word in typist.typed if word not in buffer.text]
            assert [] == [line for line in LINES if line.rstrip("\n") not in buffer.text.lower()]
    assert {"applied", "conflict"} == ended
