r"""Unified diffs that `patch` and `git apply` turn into exactly the new bytes.

Those tools know `\n` as the only line ending: a `\r` belongs to its line, and a text with lone `\r` endings is one
long line to them. A unified diff is therefore made from the text's `\n`-lines, whatever plgd's own hunks count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from plgd.text.diff import Hunk, diff_lines

__all__ = ("file_header", "unified_diff")

_CONTEXT: Final = 3
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_PLAIN_NAME: Final = re.compile(r'[^\x00-\x1f\x7f"\\]*')
_ESCAPES: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def unified_diff(old: str, new: str, name: str) -> str:
    """Return the unified diff of two texts, empty when they are equal.

    Args:
        old: the text before.
        new: the text after.
        name: the file's name or relative path; the diff calls it `a/NAME` and `b/NAME`.
    """
    old_lines = _LINE.findall(old)
    hunks = diff_lines(old_lines, _LINE.findall(new))
    if not hunks:
        return ""
    parts = [file_header(name)]
    for group in _groups(hunks):
        parts += _group_lines(old_lines, group)
    return "".join(parts)


def file_header(name: str) -> str:
    """Return the two lines that a unified diff begins with.

    Args:
        name: the file's name or relative path.
    """
    return f"--- {_quoted('a/' + name)}\n+++ {_quoted('b/' + name)}\n"


def _quoted(name: str) -> str:
    """Write a name as git does: in C quotes when it needs them, with a tab after one that has blanks."""
    if _PLAIN_NAME.fullmatch(name):
        return name + "\t" if " " in name else name
    escaped = (_ESCAPES.get(c, c if c >= " " and c != "\x7f" else f"\\{ord(c):03o}") for c in name)
    return f'"{"".join(escaped)}"'


def _groups(hunks: Sequence[Hunk]) -> Iterator[list[Hunk]]:
    """Collect hunks whose context lines would meet."""
    group = [hunks[0]]
    for hunk in hunks[1:]:
        if hunk.old_start - group[-1].old_end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(hunk)
    yield group


def _group_lines(old: Sequence[str], group: Sequence[Hunk]) -> Iterator[str]:
    first, last = group[0], group[-1]
    start = max(0, first.old_start - _CONTEXT)
    end = min(len(old), last.old_end + _CONTEXT)
    before, after = first.old_start - start, end - last.old_end
    new_start = first.new_start - before
    yield f"@@ -{_range(start, end - start)} +{_range(new_start, last.new_end + after - new_start)} @@\n"
    at = start
    for hunk in group:
        yield from _marked(" ", old[at : hunk.old_start])
        yield from _marked("-", hunk.old_lines)
        yield from _marked("+", hunk.new_lines)
        at = hunk.old_end
    yield from _marked(" ", old[at:end])


def _range(start: int, n_lines: int) -> str:
    """Write a range as diff does: from 1, the count left out when 1; an empty one names the line before it."""
    if n_lines == 1:
        return str(start + 1)
    return f"{start + 1 if n_lines else start},{n_lines}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
