"""The editor's ranges as whole lines, and whole lines as the editor's ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types

from plgd.text.lines import body, ending
from plgd.text.positions import Encoding, PositionCodec

__all__ = ("Lines", "NoSuchLines", "lines_of", "range_of")


class NoSuchLines(ValueError):
    """A range that is reversed or outside of the text."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Whole lines, counted from 0, half-open.

    Attributes:
        start: the first line.
        end: the line behind the last.
    """

    start: int
    end: int


def lines_of(span: types.Range, n_lines: int) -> Lines:
    """Return the lines that a selection touches; a place between two characters is its line.

    A selection that ends at the start of a line does not touch that line.

    Args:
        span: the editor's selection.
        n_lines: lines of the text, without the empty one behind a last ending.

    Raises:
        NoSuchLines: the range is reversed or outside of the text.
    """
    start, end = span.start, span.end
    if (end.line, end.character) < (start.line, start.character):
        raise NoSuchLines(
            f"the range is reversed: it begins at line {start.line + 1}, character {start.character}, and ends at "
            f"line {end.line + 1}, character {end.character}"
        )
    if start.line >= n_lines and (start.line > n_lines or n_lines):
        raise NoSuchLines(f"there is nothing on line {start.line + 1} to edit: the text has {n_lines} lines")
    is_before = end.character == 0 and end.line > start.line
    return Lines(start.line, min(end.line + (not is_before), n_lines))


def range_of(lines: Lines, text_lines: Sequence[str], encoding: Encoding) -> types.Range:
    """Return the range of whole lines, up to the start of the line behind them or else to the end of the text."""
    return types.Range(start=_border(lines.start, text_lines, encoding), end=_border(lines.end, text_lines, encoding))


def _border(line: int, text_lines: Sequence[str], encoding: Encoding) -> types.Position:
    if line < len(text_lines) or not line or ending(text_lines[-1]):
        return types.Position(line=line, character=0)
    last = body(text_lines[-1])
    units = PositionCodec(last, encoding).to_position(len(last)).character
    return types.Position(line=line - 1, character=units)
