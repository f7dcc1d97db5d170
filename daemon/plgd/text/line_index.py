r"""Where the lines of a text begin, kept in step with its changes.

The text is held in blocks, so that a change copies and counts what is around it and nothing behind it; the whole is put
together when somebody asks for it. As in `positions.py`, a text has one line more than it has endings.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate, islice
from typing import Final

from plgd.text.positions import Encoding, Position, count_units, fit_units

__all__ = ("LineIndex",)

_ENDING: Final = re.compile(r"\r\n|\r|\n")
# Copying and counting so much takes some microseconds, as does adding up the blocks of 20,000 lines.
BLOCK_CHARACTERS: Final = 4096


class LineIndex:
    """The lines of a text that changes. A copy (`copy.copy`) costs nothing and changes on its own.

    Args:
        text: as it is now.
    """

    def __init__(self, text: str) -> None:
        self._text: str | None = text
        # No ending is in two blocks. Only the last block may be empty.
        self._blocks = list(_cut(text))
        self._n_endings = list(map(_count_endings, self._blocks))
        # Units of each block in the encoding that was asked for last; the documents of an editor have one.
        self._encoding: Encoding = "utf-32"
        self._n_units = list(map(len, self._blocks))
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
        start = self._ending(position.line)[1] if position.line else 0
        stop = self._ending(position.line + 1)[0] if position.line + 1 < self.n_lines else self.n_characters
        self._count_in(encoding)
        # Counted from the start of the block, however far away the line begins.
        first = self._place(start)
        n_units = self._units[first] + position.character
        n_units += count_units(self._blocks[first][: start - self._ends[first]], encoding)
        place = min(bisect_right(self._units, n_units), len(self._blocks)) - 1
        if self._ends[place] >= stop:
            return stop
        block, n_units = self._blocks[place][: stop - self._ends[place]], n_units - self._units[place]
        n_before = fit_units(block, n_units, encoding)
        if n_before < len(block) and count_units(block[:n_before], encoding) != n_units:
            raise ValueError(f"character {position.character} of line {position.line} is inside a character")
        return self._ends[place] + n_before

    def replace(self, start: int, end: int, new: str) -> None:
        """Replace the characters from `start` up to `end`."""
        first, last = self._place(start), self._place(end)
        if first and start == self._ends[first] and self._blocks[first - 1].endswith("\r"):
            first -= 1  # a line feed may come to stand behind a carriage return
        stretch = self._blocks[first][: start - self._ends[first]] + new + self._blocks[last][end - self._ends[last] :]
        if last + 1 < len(self._blocks) and len(stretch) < BLOCK_CHARACTERS // 2:
            last += 1  # many small changes must not leave many small blocks
            stretch += self._blocks[last]
        blocks = list(_cut(stretch))
        self._text = None
        # Lists are made anew: a copy of this index (`copy.copy`) has them, too.
        self._blocks = [*self._blocks[:first], *blocks, *self._blocks[last + 1 :]]
        self._n_endings = [*self._n_endings[:first], *map(_count_endings, blocks), *self._n_endings[last + 1 :]]
        n_units = (count_units(block, self._encoding) for block in blocks)
        self._n_units = [*self._n_units[:first], *n_units, *self._n_units[last + 1 :]]
        self._add_up()

    def _count_in(self, encoding: Encoding) -> None:
        if encoding != self._encoding:
            self._encoding = encoding
            self._n_units = [count_units(block, encoding) for block in self._blocks]
            self._units = list(accumulate(self._n_units, initial=0))

    def _add_up(self) -> None:
        # What lies before each block, and the whole behind the last.
        self._ends = list(accumulate(map(len, self._blocks), initial=0))
        self._endings = list(accumulate(self._n_endings, initial=0))
        self._units = list(accumulate(self._n_units, initial=0))

    def _place(self, offset: int) -> int:
        """Return the block that a character is in; of the end, the last one."""
        return min(bisect_right(self._ends, offset), len(self._blocks)) - 1

    def _ending(self, n: int) -> tuple[int, int]:
        """Return where an ending begins and ends; they are counted from 1."""
        place = bisect_left(self._endings, n) - 1
        found = next(islice(_ENDING.finditer(self._blocks[place]), n - self._endings[place] - 1, None))
        return self._ends[place] + found.start(), self._ends[place] + found.end()


def _cut(text: str) -> Iterator[str]:
    """Cut a text, at line ends if it has some; a block has up to twice the size. An empty text is one empty block."""
    start = 0
    while len(text) - start > 2 * BLOCK_CHARACTERS:
        found = _ENDING.search(text, start + BLOCK_CHARACTERS, start + 2 * BLOCK_CHARACTERS)
        # Were it a full block, what is typed in a long line would leave a block behind it for each character.
        stop = found.end() if found else start + BLOCK_CHARACTERS
        if text[stop - 1 : stop + 1] == "\r\n":
            stop += 1
        yield text[start:stop]
        start = stop
    if start < len(text) or not text:
        yield text[start:]


def _count_endings(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")
