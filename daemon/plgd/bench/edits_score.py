"""Judges the text that an edit came to beside the right answers."""

from __future__ import annotations

import ast
import json
import tomllib
import warnings
from collections.abc import Callable, Sequence
from typing import Final

from plgd.text.diff import Hunk, diff_lines
from plgd.text.lines import body, split_lines

__all__ = ("find_damage", "parses")

_PARSERS: Final[dict[str, Callable[[str], object]]] = {
    "python": ast.parse,
    "json": json.loads,
    "toml": tomllib.loads,
}


def parses(text: str, language: str) -> bool | None:
    """Tell whether a text can be parsed; None for languages that have no parser here."""
    parse = _PARSERS.get(language)
    if parse is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python's parser, about the text
            parse(text.removeprefix("\ufeff"))
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two: far too nested for Python's parser
        return False
    return True


def find_damage(before: str, answers: Sequence[str], after: str) -> list[str]:
    """Return lines that an edit changed although no right answer changes them: collateral damage, apart from misses.

    A line of the source counts when it went and the right answer keeps it, and a new line when it came between lines
    where the right answer has nothing new, and is none of the right answer's new lines. What is wrong in the place of
    the asked change is a miss and no damage, and so are blank lines.

    Args:
        before: the text.
        answers: what it may become; the one with the least damage counts.
        after: what it became.
    """
    return min((_damage(before, answer, after) for answer in answers), key=len)


def _damage(before: str, answer: str, after: str) -> list[str]:
    source, right, found = ([body(line) for line in split_lines(text)] for text in (before, answer, after))
    asked = diff_lines(source, right)
    may_go = {index for hunk in asked for index in range(hunk.old_start, hunk.old_end)}
    may_come = {line for hunk in asked for line in hunk.new_lines}
    damage: list[str] = []
    for hunk in diff_lines(source, found):
        damage += [
            line for index, line in enumerate(hunk.old_lines, hunk.old_start) if index not in may_go and line.strip()
        ]
        if not hunk.old_lines and not any(_touch(hunk, other) for other in asked):
            damage += [line for line in hunk.new_lines if line not in may_come and line.strip()]
    return damage


def _touch(hunk: Hunk, other: Hunk) -> bool:
    return hunk.old_start <= other.old_end and other.old_start <= hunk.old_end
