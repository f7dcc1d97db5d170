"""A proposed edit, hunk by hunk, and where its hunks are in a text that changes meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from plgd.text.diff import Hunk, apply_hunks, diff_lines
from plgd.text.lines import split_lines
from plgd_lsp.line_map import LineMap
from plgd_lsp.places import Lines

__all__ = ("HunkState", "PlacedHunk", "Proposal")


class HunkState(Enum):
    """What became of a hunk."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class PlacedHunk:
    """A hunk in the text as it is now.

    Attributes:
        id: counts the proposal's hunks from 0.
        lines: what it replaces, or, once accepted, what it brought.
    """

    id: int
    state: HunkState
    lines: Lines
    old_lines: tuple[str, ...]
    new_lines: tuple[str, ...]


class Proposal:
    """The new text of a document, for the text that the model was shown.

    What is accepted follows from what was recorded and from the text: an edit that the user takes back is open again.

    Args:
        base: the text that the model was shown.
        new_text: what it made of it.
    """

    def __init__(self, base: str, new_text: str) -> None:
        self.base = split_lines(base)
        self.new_text = new_text
        self.hunks = diff_lines(self.base, split_lines(new_text))
        self._rejected: set[int] = set()
        # The sets of hunks that were in the text, last first, so that undone steps are recognized.
        self._steps: list[frozenset[int]] = [frozenset()]

    def accept(self, ids: Collection[int]) -> None:
        """Record that hunks are in the editor's text now."""
        self._steps.insert(0, self._steps[0] | set(ids))
        self._rejected -= set(ids)

    def reject(self, ids: Collection[int]) -> None:
        """Record that the user does not want hunks."""
        self._rejected |= set(ids)

    def place(self, current: Sequence[str]) -> tuple[PlacedHunk, ...]:
        """Find every hunk in the lines as they are now."""
        current = tuple(current)
        accepted = self._steps[0]
        reference = self._with(accepted)
        for step in self._steps[1:]:
            if reference == current:
                break
            if (earlier := self._with(step)) == current:
                accepted, reference = step, earlier
        moved = LineMap(reference, current)
        placed, grown = [], 0
        for number, hunk in enumerate(self.hunks):
            n_old, n_new = len(hunk.old_lines), len(hunk.new_lines)
            start = hunk.old_start + grown
            if number in accepted:
                grown += n_new - n_old
                state, lines = HunkState.ACCEPTED, Lines(moved.start(start), moved.end(start + n_new))
            else:
                state, lines = self._place(number, hunk, start, moved)
            if lines.end < lines.start:
                lines = Lines(lines.start, lines.start)
            placed.append(PlacedHunk(number, state, lines, hunk.old_lines, hunk.new_lines))
        return tuple(placed)

    def is_in(self, current: Sequence[str], ids: Collection[int]) -> bool:
        """Say whether the lines as they are now have hunks, whatever else changed elsewhere."""
        current = tuple(current)
        if self._with(self._steps[0] | set(ids)) == current:
            return True
        return all(hunk.state is HunkState.ACCEPTED for hunk in self.place(current) if hunk.id in ids)

    def _with(self, ids: frozenset[int]) -> tuple[str, ...]:
        return apply_hunks(self.base, [hunk for number, hunk in enumerate(self.hunks) if number in ids])

    def _place(self, number: int, hunk: Hunk, start: int, moved: LineMap) -> tuple[HunkState, Lines]:
        end = start + len(hunk.old_lines)
        # The line beside a change is the context that it was made in, so a change that only touches it clashes, too.
        for other in moved.hunks:
            if other.old_start > end:
                break
            if other.old_end < start:
                continue
            if (other.old_start, other.old_lines, other.new_lines) == (start, hunk.old_lines, hunk.new_lines):
                return HunkState.ACCEPTED, Lines(other.new_start, other.new_end)
            lines = Lines(moved.start(start), moved.end(end))
            return (HunkState.REJECTED if number in self._rejected else HunkState.CONFLICT), lines
        at = moved.start(start)
        lines = Lines(at, at + len(hunk.old_lines))
        return (HunkState.REJECTED if number in self._rejected else HunkState.OPEN), lines
