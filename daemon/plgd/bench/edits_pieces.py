"""Texts told by another text: which stretches are taken from it, and what stands between them.

A suite of edits of other people's files is stored this way: without the files, it has nothing but what is new.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

__all__ = ("Piece", "cut", "spell")

# A stretch of the source, from a character up to another, or new text.
Piece = tuple[int, int] | str

_WORD: Final = re.compile(r"\w+|\n|[^\S\n]+|[^\w\s]")
# A shorter stretch is told by its text, unless it goes on where the last one ended.
_MIN_STRETCH: Final = 16
# Words that a stretch is found by, and of the places with these words, how many on each side are tried.
_KEY: Final = 3
_N_TRIED: Final = 32


def cut(source: str, text: str) -> list[Piece]:
    """Tell a text by a source, in as few pieces as a greedy search finds."""
    words, source_words = _WORD.findall(text), _WORD.findall(source)
    starts = [0]
    for word in source_words:
        starts.append(starts[-1] + len(word))
    places: dict[tuple[str, ...], list[int]] = {}
    for index in range(len(source_words) - _KEY + 1):
        places.setdefault(tuple(source_words[index : index + _KEY]), []).append(index)
    pieces: list[Piece] = []
    at = next_in_source = 0
    while at < len(words):
        found = places.get(tuple(words[at : at + _KEY]), [])
        middle = bisect_left(found, next_in_source)
        options = [*found[max(0, middle - _N_TRIED) : middle + _N_TRIED], next_in_source]
        # Of equals, the one nearest to where the last stretch ended.
        lengths = [(_common(words, at, source_words, index), -abs(index - next_in_source), index) for index in options]
        n_words, _, index = max(lengths)
        start, end = starts[index], starts[index + n_words]
        if end - start >= _MIN_STRETCH or (n_words and index == next_in_source):
            pieces.append((start, end))
            at, next_in_source = at + n_words, index + n_words
        else:
            last = pieces.pop() if pieces and isinstance(pieces[-1], str) else ""
            pieces.append(f"{last}{words[at]}")
            at += 1
    return pieces


def spell(source: str, pieces: Sequence[Piece]) -> str:
    """Write the text that pieces tell.

    Raises:
        ValueError: a stretch is not in the source.
    """
    parts = []
    for piece in pieces:
        if isinstance(piece, str):
            parts.append(piece)
        elif 0 <= piece[0] < piece[1] <= len(source):
            parts.append(source[piece[0] : piece[1]])
        else:
            raise ValueError(f"the source has no characters {piece[0]} to {piece[1]}")
    return "".join(parts)


def _common(words: Sequence[str], at: int, source: Sequence[str], index: int) -> int:
    """Return how many words are equal from two places on."""
    limit = min(len(words) - at, len(source) - index)
    return next((n_words for n_words in range(limit) if words[at + n_words] != source[index + n_words]), limit)
