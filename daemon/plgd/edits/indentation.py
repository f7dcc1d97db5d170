"""Keeps a text's tabs where a model writes them as spaces.

Many models indent with spaces whatever they read. In a text that is indented with tabs, that turns every line of the
reply into a change. Space-indented lines that take the place of tab-indented ones, or come between them, get their
tabs back, unless the instruction is about blanks or layout.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import gcd
from typing import Final

from plgd.text.diff import Hunk, diff_lines
from plgd.text.lines import split_lines

__all__ = ("keep_tabs",)

_ABOUT_LAYOUT: Final = re.compile(
    r"\b(?:tab|space|indent|whitespace|blank|format|style|layout|pep ?8|lint)", re.IGNORECASE
)
_INDENT: Final = re.compile(r"[ \t]*")


def keep_tabs(source: str, reply: str, instruction: str) -> str:
    """Return the reply with tabs for spaces at the beginning of lines where the source has tabs.

    Args:
        source: the text that was rewritten, in the model's view.
        reply: the new text.
        instruction: the user's words.
    """
    if "\t" not in source or _ABOUT_LAYOUT.search(instruction):
        return reply
    old, new = split_lines(source), list(split_lines(reply))
    hunks = [hunk for hunk in diff_lines(old, new) if _is_tabbed(_replaced(old, hunk))]
    unit = _unit(hunks)
    if unit < 2:
        return reply
    for hunk in hunks:
        for at in range(hunk.new_start, hunk.new_end):
            spaces = _indent(new[at])
            if spaces and spaces.isspace() and "\t" not in spaces:
                n_tabs, n_spaces = divmod(len(spaces), unit)
                new[at] = "\t" * n_tabs + " " * n_spaces + new[at][len(spaces) :]
    return "".join(new)


def _indent(line: str) -> str:
    match = _INDENT.match(line)
    return match[0] if match else ""


def _replaced(old: Sequence[str], hunk: Hunk) -> Sequence[str]:
    """Return the lines that a hunk replaces, or those around the place where it inserts."""
    return hunk.old_lines or old[max(0, hunk.old_start - 1) : hunk.old_start + 1]


def _is_tabbed(lines: Sequence[str]) -> bool:
    indents = [indent for line in lines if not line.isspace() and (indent := _indent(line))]
    return bool(indents) and all(indent.startswith("\t") for indent in indents)


def _unit(hunks: Sequence[Hunk]) -> int:
    """Return how many spaces the reply writes for a tab; 0 when it does not."""
    ratios = Counter(_ratios(hunks))
    if ratios:
        return max(ratios, key=ratios.__getitem__)
    widths = (_indent(line) for hunk in hunks for line in hunk.new_lines if not line.isspace())
    return gcd(*(len(indent) for indent in widths if "\t" not in indent))


def _ratios(hunks: Sequence[Hunk]) -> Iterator[int]:
    """Compare the lines of hunks that replace as many lines as they bring."""
    for hunk in hunks:
        if len(hunk.old_lines) != len(hunk.new_lines):
            continue
        for old, new in zip(hunk.old_lines, hunk.new_lines, strict=True):
            tabs, spaces = _indent(old), _indent(new)
            if tabs and spaces and not tabs.strip("\t") and not spaces.strip(" ") and not len(spaces) % len(tabs):
                yield len(spaces) // len(tabs)
