"""Moves an edit from the text it was made for to a text that has changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plgd.text.diff import Hunk, diff_lines

__all__ = ("Clash", "rebase_hunks")


@dataclass(frozen=True, slots=True)
class Clash:
    """Lines of the base that both sides changed.

    Attributes:
        first: counted from 1.
        last: included; the line before `first` where both sides only insert.
    """

    first: int
    last: int


def rebase_hunks(hunks: Sequence[Hunk], base: Sequence[str], current: Sequence[str]) -> tuple[Hunk, ...] | Clash:
    """Move hunks from the base to the current lines.

    Changes that touch each other clash too: the line beside a change is the context it was made in. A change that the
    current text has already is left out.

    Args:
        hunks: made for `base`, in order.
        base: the lines that the hunks were made for.
        current: the lines as they are now.

    Returns:
        The hunks for `current`, or the first place where both sides changed the base.
    """
    theirs = diff_lines(base, current)
    moved: list[Hunk] = []
    seen = 0
    shift = grown = 0
    for hunk in hunks:
        while seen < len(theirs) and theirs[seen].old_end < hunk.old_start:
            shift += len(theirs[seen].new_lines) - len(theirs[seen].old_lines)
            seen += 1
        if seen < len(theirs) and theirs[seen].old_start <= hunk.old_end:
            other = theirs[seen]
            if (other.old_start, other.old_lines, other.new_lines) == (hunk.old_start, hunk.old_lines, hunk.new_lines):
                continue
            first, last = min(other.old_start, hunk.old_start), max(other.old_end, hunk.old_end)
            return Clash(first + 1, last)
        at = hunk.old_start + shift
        moved.append(replace(hunk, old_start=at, new_start=at + grown))
        grown += len(hunk.new_lines) - len(hunk.old_lines)
    return tuple(moved)
