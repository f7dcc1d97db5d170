"""Finds replies that go beyond the lines to rewrite: those would stand twice in the text afterwards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from plgd.text.diff import diff_lines

__all__ = ("find_repeated_edge",)

# So many lines next to the range, and so many letters in them, are no coincidence; a closing bracket is.
_N_LINES: Final = 3
_N_LETTERS: Final = 10

_LETTER: Final = re.compile(r"\w")


def find_repeated_edge(
    source: Sequence[str], reply: Sequence[str], before: Sequence[str], after: Sequence[str]
) -> str | None:
    """Return a line that stands next to the range and that the reply added, together with its neighbours.

    Args:
        source: the lines to rewrite.
        reply: the new lines.
        before: the lines above the range.
        after: the lines below it.
    """
    above, below = _filled(before)[-_N_LINES:], _filled(after)[:_N_LINES]
    edges = [edge for edge in (above, below) if len(_LETTER.findall("".join(edge))) >= _N_LETTERS]
    for hunk in diff_lines(source, reply):
        added = _filled(hunk.new_lines)
        for edge in edges:
            if any(added[at : at + len(edge)] == edge for at in range(len(added) - len(edge) + 1)):
                return edge[0].strip()
    return None


def _filled(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not line.isspace()]
