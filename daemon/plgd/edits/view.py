r"""What the model sees of a text, and the way back.

The model sees lines that all end in `\n`. On the way back, lines that it did not change are the source's own bytes;
a changed or new line takes the ending of the line it stands for, or else its neighbour's; and the last line has an
ending if the source's last line has one.
"""

from __future__ import annotations

from collections.abc import Sequence

from plgd.text.diff import Hunk, diff_lines
from plgd.text.lines import body, common_ending, ending, split_lines

__all__ = ("restore", "view")


def view(lines: Sequence[str]) -> str:
    r"""Return the lines as the model sees them: each with a `\n`."""
    return "".join(body(line) + "\n" for line in lines)


def restore(source: Sequence[str], reply: str, usual_ending: str) -> tuple[str, ...]:
    """Return the new lines with the source's bytes wherever the model did not change them.

    Args:
        source: the lines that were rewritten, with their endings.
        reply: the new text in the model's view.
        usual_ending: for a new line without any neighbour to learn from.
    """
    new = [body(line) for line in split_lines(reply)]
    lines: list[str] = []
    at = 0
    for hunk in diff_lines([body(line) for line in source], new):
        lines += source[at : hunk.old_start]
        lines += _with_endings(source, hunk, usual_ending)
        at = hunk.old_end
    lines += source[at:]
    return _with_final_ending(source, lines, usual_ending)


def _with_endings(source: Sequence[str], hunk: Hunk, usual_ending: str) -> list[str]:
    """Give each new line of a hunk the ending of the line it stands for, or of the nearest line before."""
    replaced = source[hunk.old_start : hunk.old_end] or source[max(0, hunk.old_start - 1) : hunk.old_start + 1][:1]
    endings = [found for line in replaced if (found := ending(line))] or [usual_ending]
    return [line + endings[min(index, len(endings) - 1)] for index, line in enumerate(hunk.new_lines)]


def _with_final_ending(source: Sequence[str], lines: Sequence[str], usual_ending: str) -> tuple[str, ...]:
    """Make the last line end as the source's last line does, and every line before it end at all."""
    if not lines:
        return ()
    *firsts, last = lines
    whole = [line if ending(line) else line + usual_ending for line in firsts]
    if not ending(source[-1]):
        return (*whole, body(last))
    return (*whole, last if ending(last) else last + common_ending(source))
