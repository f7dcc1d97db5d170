"""Positions of an editor protocol (line, character) to offsets of a Python string, and back.

The Language Server Protocol counts characters in UTF-16 code units by default, and in UTF-8 bytes or UTF-32 code
points when agreed. Lines and characters count from 0. A text has one line more than it has line endings, so the
place after a final newline is a position of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal

from plgd.text.lines import body

__all__ = ("Encoding", "Position", "PositionCodec")

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_ENDING: Final = re.compile(r"\r\n|\r|\n")


def _utf8_units(character: str) -> int:
    code = ord(character)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _utf16_units(character: str) -> int:
    return 1 if ord(character) < 0x10000 else 2


def _utf32_units(_character: str) -> int:
    return 1


_UNITS: Final[dict[Encoding, Callable[[str], int]]] = {
    "utf-8": _utf8_units,
    "utf-16": _utf16_units,
    "utf-32": _utf32_units,
}


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place between two characters.

    Attributes:
        line: counted from 0.
        character: code units of the agreed encoding before the place, within the line.
    """

    line: int
    character: int


class PositionCodec:
    """Positions in one text, in one encoding."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self._text = text
        self._units = _UNITS[encoding]
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
        if line.isascii():
            return start + min(position.character, len(line))
        ends = list(accumulate(map(self._units, line)))
        return start + bisect_right(ends, position.character)

    def to_position(self, offset: int) -> Position:
        r"""Return the position of an offset; within `\r\n` it is the one before.

        Raises:
            ValueError: the offset is not in the text.
        """
        if not 0 <= offset <= len(self._text):
            raise ValueError(f"offset {offset} is not in a text of {len(self._text)} code points")
        number = bisect_right(self._starts, offset) - 1
        start, line = self._line(number)
        before = line[: offset - start]
        return Position(number, len(before) if before.isascii() else sum(map(self._units, before)))

    def _line(self, number: int) -> tuple[int, str]:
        start = self._starts[number]
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._text)
        return start, body(self._text[start:end])
