"""Where lines of a text are after it has changed."""

from __future__ import annotations

from collections.abc import Sequence

from plgd.text.diff import diff_lines

__all__ = ("LineMap",)


class LineMap:
    """Maps borders between lines, counted from 0, of an old text to a new one.

    Args:
        old: the lines as they were.
        new: the lines as they are.
    """

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self.hunks = () if old == new else diff_lines(old, new)

    def start(self, line: int) -> int:
        """Return where the lines from `line` on begin; of a line that was replaced, where what replaced it begins."""
        shift = 0
        for hunk in self.hunks:
            if hunk.old_end > line or (hunk.old_end == line and hunk.old_start == line):
                return hunk.new_start if hunk.old_start < line else line + shift
            shift = hunk.new_end - hunk.old_end
        return line + shift

    def end(self, line: int) -> int:
        """Return where the lines before `line` end; of a line that was replaced, where what replaced it ends."""
        shift = 0
        for hunk in self.hunks:
            if hunk.old_start >= line:
                break
            if hunk.old_end > line:
                return hunk.new_end
            shift = hunk.new_end - hunk.old_end
        return line + shift
