"""Compares a reply with the sketch that it was to be merged from: what it lost, and what it left out.

Lines are compared without the blanks at their ends, so that one that was only moved or indented is still there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plgd.edits.placeholders import is_marker
from plgd.text.diff import diff_lines

__all__ = ("Merge", "compare_merge")


@dataclass(frozen=True, slots=True)
class Merge:
    """What became of a sketch, as lines of the text or the sketch.

    Attributes:
        lost: the sketch keeps them, and the reply has neither them nor other words of its own in their place.
        unmerged: the sketch has them, and the reply has not.
    """

    lost: tuple[str, ...] = ()
    unmerged: tuple[str, ...] = ()


def compare_merge(source: Sequence[str], reply: Sequence[str], sketch: Sequence[str], guess: Sequence[str]) -> Merge:
    """Compare a reply with its sketch.

    Args:
        source: lines of the text.
        reply: lines of the new text.
        sketch: lines of the sketch.
        guess: lines of the text that the sketch seems to mean; none where it cannot be guessed at.
    """
    had, has = _counted(source), _counted(reply)
    shown = _counted(line for line in sketch if not is_marker(line))
    gone = (had & _counted(guess)) - has
    lost = Counter[str]()
    for hunk in diff_lines(source, reply) if gone else ():
        missing = _counted(hunk.old_lines) & gone
        own = _counted(hunk.new_lines) - had - shown
        if missing.total() > own.total():  # else they are there in other words, such as after a rename
            lost += missing
        gone -= missing
    return Merge(_listed(lost), _listed(shown - has))


def _counted(lines: Iterable[str]) -> Counter[str]:
    return Counter(line.strip() for line in lines if line and not line.isspace())


def _listed(lines: Counter[str]) -> tuple[str, ...]:
    return tuple(lines.elements())
