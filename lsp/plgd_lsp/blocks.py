"""Lines that belong together, judged by blank lines and indentation alone, for any language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from plgd_lsp.places import Lines

__all__ = ("block_after", "block_around")

# What ends or goes on with a block at the indentation that it began with.
_CLOSERS: Final = ("}", ")", "]", "end", "</", "else", "elif", "elsif", "except", "catch", "finally", "rescue", "fi")
# A fix may need so many lines around the fault.
_AROUND: Final = 30


def block_after(lines: Sequence[str], start: int) -> Lines | None:
    """Return the block that begins at the first line with text from `start` on; None when there is none.

    Lines of equal indentation, then what is indented further, with the lines that close it.
    """
    while start < len(lines) and not lines[start].strip():
        start += 1
    if start == len(lines):
        return None
    depth = _depth(lines[start])
    end, has_body = start + 1, False
    for number in range(start + 1, len(lines)):
        line = lines[number]
        if not line.strip():
            if not has_body:
                break
            continue
        if _depth(line) > depth:
            has_body = True
        elif _depth(line) < depth or (has_body and not line.strip().startswith(_CLOSERS)):
            break
        end = number + 1
    return Lines(start, end)


def block_around(lines: Sequence[str], place: Lines) -> Lines:
    """Return the lines around a place, up to a blank line on both sides, or at most thirty."""
    start, end = place.start, place.end
    while start > max(0, place.start - _AROUND) and lines[start - 1].strip():
        start -= 1
    while end < min(len(lines), place.end + _AROUND) and lines[end].strip():
        end += 1
    return Lines(start, end)


def _depth(line: str) -> int:
    expanded = line.expandtabs()
    return len(expanded) - len(expanded.lstrip())
