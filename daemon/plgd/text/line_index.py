r"""Where the lines of a text begin, kept in step with its changes.

Lines are counted in blocks, so that a change recounts the few lines around it and nothing behind it. As in
`positions.py`, a text has one line more than it has endings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from plgd.text.positions import Encoding, Position, PositionCodec

__all__ = ("LineIndex",)

_ENDING: Final = re.compile(r"\r\n|\r|\n")
_BLOCK_LINES: Final = 64


@dataclass(frozen=True, slots=True)
class _Block:
    """Whole lines: each ends in this block, except for what follows the text's last ending."""

    n_characters: int
    n_endings: int


class LineIndex:
    """The lines of a text that changes.

    Args:
        text: as it is now.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._blocks = list(_count(text, 0, len(text)))
        self._n_endings = sum(block.n_endings for block in self._blocks)

    @property
    def text(self) -> str:
        """The text as it is now."""
        return self._text

    @property
    def n_lines(self) -> int:
        """Lines in the editor's count: endings and one more."""
        return 1 + self._n_endings

    def find(self, position: Position, encoding: Encoding) -> int:
        """Return the offset of a position.

        Past the end of a line means the line's end, as editors say it; so does the start of the line behind the last.

        Raises:
            ValueError: there is no such line, or the position is inside a character.
        """
        if position == Position(self.n_lines, 0):
            return len(self._text)
        if not 0 <= position.line < self.n_lines or position.character < 0:
            raise ValueError(f"there is no line {position.line}, character {position.character}")
        start = self._start(position.line)
        found = _ENDING.search(self._text, start)
        line = self._text[start : found.start() if found else len(self._text)]
        codec = PositionCodec(line, encoding)
        offset = codec.to_offset(Position(0, position.character))
        if offset < len(line) and codec.to_position(offset).character != position.character:
            raise ValueError(f"character {position.character} of line {position.line} is inside a character")
        return start + offset

    def replace(self, start: int, end: int, new: str) -> None:
        """Replace the characters from `start` up to `end`."""
        self._text = self._text[:start] + new + self._text[end:]
        ends = list(accumulate(block.n_characters for block in self._blocks))
        # One block more on both sides: a line feed may come to stand behind a carriage return, or go.
        first = max(0, bisect_right(ends, start) - 1)
        last = min(len(ends), bisect_right(ends, end) + 2)
        begin = ends[first - 1] if first else 0
        stop = (ends[last - 1] if last else 0) + len(new) - (end - start)
        counted = list(_count(self._text, begin, stop))
        self._n_endings += sum(block.n_endings for block in counted)
        self._n_endings -= sum(block.n_endings for block in self._blocks[first:last])
        self._blocks[first:last] = counted

    def _start(self, line: int) -> int:
        start = 0
        for block in self._blocks:
            if line < block.n_endings or start + block.n_characters == len(self._text):
                break
            line -= block.n_endings
            start += block.n_characters
        endings = _ENDING.finditer(self._text, start)
        for _ in range(line):
            start = next(endings).end()
        return start


def _count(text: str, start: int, end: int) -> Iterator[_Block]:
    """Count the lines of a stretch that begins at the start of a line."""
    n = 0
    begin = start
    for found in _ENDING.finditer(text, start, end):
        n += 1
        if n == _BLOCK_LINES:
            yield _Block(found.end() - begin, n)
            begin, n = found.end(), 0
    if end > begin:
        yield _Block(end - begin, n)
