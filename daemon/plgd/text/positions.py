"""Positions of an editor protocol (line, character) to offsets of a Python string, and back.

The Language Server Protocol counts characters in UTF-16 code units by default, and in UTF-8 bytes or UTF-32 code
points when agreed. Lines and characters count from 0. A text has one line more than it has line endings, so the
place after a final newline is a position of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final, Literal

from plgd.text.lines import body

__all__ = ("Encoding", "Position", "PositionCodec", "count_units", "fit_units")

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_ENDING: Final = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place between two characters.

    Attributes:
        line: counted from 0.
        character: code units of the agreed encoding before the place, within the line.
    """

    line: int
    character: int


def count_units(text: str, encoding: Encoding) -> int:
    """Count the code units of a text; half a surrogate pair is one of UTF-16 and three of UTF-8."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def fit_units(text: str, n_units: int, encoding: Encoding) -> int:
    """Count the characters that a text begins with and that have at most so many code units together.

    Lines may be of millions of characters, so these are halved and counted by C, not one by one.
    """
    text = text[: max(0, n_units)]  # a character has at least one unit
    if encoding == "utf-32" or text.isascii():
        return len(text)
    low, high = 0, len(text) + 1
    while high - low > 1:
        middle = (low + high) // 2
        n_more = count_units(text[low:middle], encoding)
        if n_more <= n_units:
            low, n_units = middle, n_units - n_more
        else:
            high = middle
    return low


class PositionCodec:
    """Positions in one text, in one encoding."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self._text = text
        self._encoding = encoding
        self._starts = [0, *(match.end() for match in _ENDING.finditer(text))]

    @property
    def n_lines(self) -> int:
        """Lines in the editor's count: endings and one more."""
        return len(self._starts)

    def to_offset(self, position: Position) -> int:
        """Return the offset of a position, in code points from the start of the text.

        Past the end of a line means the line's end, before its ending; past the last line means the text's end. Inside
        a character (between two surrogates, say) means before that character.
        """
        if position.line >= len(self._starts):
            return len(self._text)
        start, line = self._line(position.line)
        return start + fit_units(line, position.character, self._encoding)

    def to_position(self, offset: int) -> Position:
        r"""Return the position of an offset; within `\r\n` it is the one before.

        Raises:
            ValueError: the offset is not in the text.
        """
        if not 0 <= offset <= len(self._text):
            raise ValueError(f"offset {offset} is not in a text of {len(self._text)} code points")
        number = bisect_right(self._starts, offset) - 1
        start, line = self._line(number)
        return Position(number, count_units(line[: offset - start], self._encoding))

    def _line(self, number: int) -> tuple[int, str]:
        start = self._starts[number]
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._text)
        return start, body(self._text[start:end])
