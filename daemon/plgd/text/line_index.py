r"""Where the lines of a text begin, kept in step with its changes.

The text is held in blocks of whole lines, so that a change copies and counts the few lines around it and nothing behind
it; the whole is put together when somebody asks for it. As in `positions.py`, a text has one line more than it has
endings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from plgd.text.positions import Encoding, Position, count_units, fit_units

__all__ = ("LineIndex",)

_ENDING: Final = re.compile(r"\r\n|\r|\n")
# Copying and counting so much takes some microseconds, as does adding up the blocks of 20,000 lines.
BLOCK_CHARACTERS: Final = 4096


class LineIndex:
    """The lines of a text that changes.

    Args:
        text: as it is now.
    """

    def __init__(self, text: str) -> None:
        self._text: str | None = text
        # Each block ends with a whole line, but for what follows the text's last ending. Only the last may be empty.
        self._blocks = list(_cut(text))
        self._n_endings = list(map(_count_endings, self._blocks))
        self._add_up()

    @property
    def text(self) -> str:
        """The text as it is now."""
        if self._text is None:
            self._text = "".join(self._blocks)
        return self._text

    @property
    def n_characters(self) -> int:
        """Code points of the text."""
        return self._ends[-1]

    @property
    def n_lines(self) -> int:
        """Lines in the editor's count: endings and one more."""
        return 1 + self._endings[-1]

    def find(self, position: Position, encoding: Encoding) -> int:
        """Return the offset of a position.

        Past the end of a line means the line's end, as editors say it; so does the start of the line behind the last.

        Raises:
            ValueError: there is no such line, or the position is inside a character.
        """
        if position == Position(self.n_lines, 0):
            return self.n_characters
        if not 0 <= position.line < self.n_lines or position.character < 0:
            raise ValueError(f"there is no line {position.line}, character {position.character}")
        place = self._place(self._endings, position.line)
        block = self._blocks[place]
        start = _line_start(block, position.line - self._endings[place])
        found = _ENDING.search(block, start)
        line = block[start : found.start() if found else len(block)]
        n_before = fit_units(line, position.character, encoding)
        if n_before < len(line) and count_units(line[:n_before], encoding) != position.character:
            raise ValueError(f"character {position.character} of line {position.line} is inside a character")
        return self._ends[place] + start + n_before

    def replace(self, start: int, end: int, new: str) -> None:
        """Replace the characters from `start` up to `end`."""
        first, last = self._place(self._ends, start), self._place(self._ends, end)
        if first and start == self._ends[first] and self._blocks[first - 1].endswith("\r"):
            first -= 1  # a line feed may come to stand behind a carriage return
        stretch = self._blocks[first][: start - self._ends[first]] + new + self._blocks[last][end - self._ends[last] :]
        if last + 1 < len(self._blocks) and len(stretch) < BLOCK_CHARACTERS // 2:
            last += 1  # many small changes must not leave many small blocks
            stretch += self._blocks[last]
        blocks = list(_cut(stretch))
        self._text = None
        self._blocks[first : last + 1] = blocks
        self._n_endings[first : last + 1] = map(_count_endings, blocks)
        self._add_up()

    def _add_up(self) -> None:
        # What lies before each block, and the whole behind the last.
        self._ends = list(accumulate(map(len, self._blocks), initial=0))
        self._endings = list(accumulate(self._n_endings, initial=0))

    def _place(self, sums: list[int], wanted: int) -> int:
        """Return the last block that has at most so much before it."""
        return min(bisect_right(sums, wanted), len(self._blocks)) - 1


def _cut(text: str) -> Iterator[str]:
    """Cut a text at line ends; what is left may have twice the size. An empty text is one empty block."""
    start = 0
    while len(text) - start > 2 * BLOCK_CHARACTERS and (found := _ENDING.search(text, start + BLOCK_CHARACTERS)):
        yield text[start : found.end()]
        start = found.end()
    if start < len(text) or not text:
        yield text[start:]


def _count_endings(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _line_start(text: str, n: int) -> int:
    """Return where the line behind the first n endings begins."""
    start = 0
    endings = _ENDING.finditer(text)
    for _ in range(n):
        start = next(endings).end()
    return start
