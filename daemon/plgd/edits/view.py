r"""What the model sees of a text, and the way back.

The model sees lines that all end in `\n`. On the way back, lines that it did not change are the source's own bytes;
a changed or new line takes the ending of the line it stands for, or else its neighbour's; and the last line has an
ending if the source's last line has one; an empty last line always has it, or it would be no line. In an empty text,
each new line ends in `\n`.
"""

from __future__ import annotations

from collections.abc import Sequence

from plgd.text.diff import Hunk, diff_lines
from plgd.text.lines import body, common_ending, ending, split_lines

__all__ = ("rewrite_lines", "view")


def view(lines: Sequence[str]) -> str:
    r"""Return the lines as the model sees them: each with a `\n`."""
    joined = "".join(lines)
    # A text that is its own view, as most are, is not taken apart: each edit looks at it several times.
    if "\r" not in joined and joined.count("\n") == len(lines) and joined[-1:] in {"", "\n"}:
        return joined
    return "".join(body(line) + "\n" for line in lines)


def rewrite_lines(lines: Sequence[str], first: int, last: int, reply: str) -> tuple[str, ...]:
    """Return all lines of a text after some were rewritten; what the model did not change keeps its bytes.

    Args:
        lines: the text's, with their endings.
        first: of those that were rewritten, counted from 1.
        last: included.
        reply: the new text in the model's view.
    """
    source = lines[first - 1 : last]
    usual_ending = common_ending(lines)
    new = [body(line) for line in split_lines(reply)]
    restored: list[str] = []
    at = 0
    for hunk in diff_lines([body(line) for line in source], new):
        restored += source[at : hunk.old_start]
        restored += _with_endings(source, hunk, usual_ending)
        at = hunk.old_end
    restored += source[at:]
    _end_as(source, restored, usual_ending)
    return _kept_apart([*lines[: first - 1], *restored, *lines[last:]])


def _with_endings(source: Sequence[str], hunk: Hunk, usual_ending: str) -> list[str]:
    """Give each new line of a hunk the ending of the line it stands for, or of the nearest line before."""
    replaced = source[hunk.old_start : hunk.old_end] or source[max(0, hunk.old_start - 1) : hunk.old_start + 1][:1]
    endings = [found for line in replaced if (found := ending(line))] or [usual_ending]
    return [line + endings[min(index, len(endings) - 1)] for index, line in enumerate(hunk.new_lines)]


def _end_as(source: Sequence[str], lines: list[str], usual_ending: str) -> None:
    """Make the last line end as the source's last line does, and every line before it end at all."""
    lines[:] = [line if ending(line) else line + usual_ending for line in lines]
    if source and lines and not ending(source[-1]) and body(lines[-1]):
        lines[-1] = body(lines[-1])


def _kept_apart(lines: list[str]) -> tuple[str, ...]:
    r"""Keep a line that ends in a lone `\r` from joining an empty line behind it that a change brought there."""
    for index in range(len(lines) - 2, -1, -1):
        if ending(lines[index]) == "\r" and lines[index + 1] == "\n":
            lines[index] = body(lines[index]) + "\n"
    return tuple(lines)
