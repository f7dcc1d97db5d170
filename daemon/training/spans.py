"""Changes of a text by spans and by lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = (
    "Replacement",
    "changed_lines",
    "indent_of",
    "is_blank",
    "n_gaps",
    "replace_all",
    "replace_spans",
    "word_pattern",
)

_GAP: Final = re.compile(r"(?:^[ \t]*\n)+", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Replacement:
    """Characters `start` to `end` (not included) become `new`."""

    start: int
    end: int
    new: str


def replace_spans(text: str, replacements: Iterable[Replacement]) -> str:
    """Make replacements that do not overlap.

    Raises:
        ValueError: two of them overlap.
    """
    parts: list[str] = []
    at = 0
    for one in sorted(replacements):
        if one.start < at:
            raise ValueError(f"replacements overlap at {one.start}")
        parts += (text[at : one.start], one.new)
        at = one.end
    return "".join((*parts, text[at:]))


@lru_cache(maxsize=4096)
def word_pattern(word: str) -> re.Pattern[str]:
    """Match a word that is not part of a longer one."""
    return re.compile(rf"(?<![\w]){re.escape(word)}(?![\w])")


def replace_all(text: str, starts: Sequence[int], old: str, new: str) -> str:
    """Replace the occurrences of a string that begin at the given places."""
    return replace_spans(text, [Replacement(start, start + len(old), new) for start in starts])


def n_gaps(text: str) -> int:
    """Count the blank lines of a text, those in a row as one."""
    return len(_GAP.findall(text))


def is_blank(line: str) -> bool:
    """Tell whether a line has nothing but blanks."""
    return not line.strip()


def indent_of(line: str) -> str:
    """Return the blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def changed_lines(before: Sequence[str], after: Sequence[str]) -> tuple[int, int, int]:
    """Return the lines before `(first, last)` that differ, not included the last, and the last of those after.

    They begin after the longest common head and end before the longest common tail.
    """
    first = 0
    limit = min(len(before), len(after))
    while first < limit and before[first] == after[first]:
        first += 1
    tail = 0
    while tail < limit - first and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return first, len(before) - tail, len(after) - tail
