"""Replacements that an instruction announces: `Rename total to subtotal` says how the reply will differ."""

from __future__ import annotations

import re
from typing import Final

__all__ = ("announced",)

# Two names, quoted or not, with an arrow between them or what English, German and French say there.
_PAIR: Final = re.compile(
    r"""(?<!\w)(?P<old>[^\W\d]\w*)["'`]?"""
    r"""(?:[ ]+(?:to|into|by|with|as|zu|durch|in|par|en)[ ]+|[ ]*(?:->|=>|→)[ ]*)"""
    r"""["'`]?(?P<new>[^\W\d]\w*)"""
)
# An instruction that announces more is a list of something else.
_MOST: Final = 8


def announced(instruction: str, text: str) -> tuple[tuple[str, str], ...]:
    """Return the words that an instruction seems to replace, each with what takes its place.

    It is a guess, and only drafts rest on it: the first of two neighbours is a word of the text, the second is none.

    Args:
        instruction: what is asked for, as a person would write it.
        text: what is to be rewritten.
    """
    found: dict[str, str] = {}
    at = 0
    while len(found) < _MOST and (match := _PAIR.search(instruction, at)):
        old, new = match["old"], match["new"]
        is_replacement = _has_word(text, old) and not _has_word(text, new)
        if is_replacement:
            found.setdefault(old, new)
        # Else the second may be the first of the next pair.
        at = match.end() if is_replacement else match.end("old")
    return tuple(found.items())


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
