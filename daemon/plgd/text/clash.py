"""What three texts say at a place where two of them changed the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plgd.text.diff import Hunk, diff_lines
from plgd.text.rebase import Clash

__all__ = ("ClashingLines", "clashing_lines")


@dataclass(frozen=True, slots=True)
class ClashingLines:
    """A place in three texts.

    Attributes:
        first: its first line in the base, counted from 1.
        last: its last line there, included; the line before `first` where both sides only insert.
        their_first: its first line in their text.
        base: its lines in the base.
        ours: its lines in our text.
        theirs: its lines in their text.
    """

    first: int
    last: int
    their_first: int
    base: tuple[str, ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


def clashing_lines(clash: Clash, base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> ClashingLines:
    """Return what each text says at a clash, widened until no change of either side crosses its border.

    Args:
        clash: what `rebase_hunks` found.
        base: the lines that both sides changed.
        ours: the base with the one side's changes.
        theirs: the base with the other side's.
    """
    our_hunks, their_hunks = diff_lines(base, ours), diff_lines(base, theirs)
    start, end = clash.first - 1, clash.last
    while (wider := _widened(start, end, (*our_hunks, *their_hunks))) != (start, end):
        start, end = wider
    our_start, our_end = _moved(start, end, our_hunks)
    their_start, their_end = _moved(start, end, their_hunks)
    return ClashingLines(
        first=start + 1,
        last=end,
        their_first=their_start + 1,
        base=tuple(base[start:end]),
        ours=tuple(ours[our_start:our_end]),
        theirs=tuple(theirs[their_start:their_end]),
    )


def _widened(start: int, end: int, hunks: Sequence[Hunk]) -> tuple[int, int]:
    touching = [hunk for hunk in hunks if hunk.old_start <= end and hunk.old_end >= start]
    return min([start, *(hunk.old_start for hunk in touching)]), max([end, *(hunk.old_end for hunk in touching)])


def _moved(start: int, end: int, hunks: Sequence[Hunk]) -> tuple[int, int]:
    """Return where a place that no hunk crosses is after the hunks."""
    before = sum(_growth(hunk) for hunk in hunks if hunk.old_end < start)
    inside = sum(_growth(hunk) for hunk in hunks if start <= hunk.old_start and hunk.old_end <= end)
    return start + before, end + before + inside


def _growth(hunk: Hunk) -> int:
    return len(hunk.new_lines) - len(hunk.old_lines)
