"""Slips of the finger in prose, of which everyone knows how they are to be mended."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from plgd.text.lines import split_lines

__all__ = ("MARKUP", "mistyped", "with_typos")

# How a line begins that is no running text.
MARKUP: Final = re.compile(r"\s*(?:[#|>\-*+=~`:]|\d+[.)]|    |\t|\.\. |!\[|\[|<)")

_WORD: Final = re.compile(r"(?<![\w`/.@\[-])[a-z]{5,11}(?![\w`/@\]-]|\.\w)")
MIN_PLACES: Final = 3


def with_typos(text: str, rng: Random, n_typos: int) -> str | None:
    """Mistype words of a text's running prose; None for a text that has little."""
    places: list[tuple[int, str]] = []
    offset = 0
    for line in split_lines(text):
        if not MARKUP.match(line) and len(line) > 20:
            places += [(offset + match.start(), match[0]) for match in _WORD.finditer(line)]
        offset += len(line)
    if len(places) < MIN_PLACES:
        return None
    for start, word in sorted(rng.sample(places, min(n_typos, len(places) // 2)), reverse=True):
        text = text[:start] + mistyped(word, rng) + text[start + len(word) :]
    return text


def mistyped(word: str, rng: Random) -> str:
    """Swap two letters of a word, leave one out, or double one; never the first."""
    kind = rng.randrange(3)
    places = [at for at in range(1, len(word) - 1) if word[at] != word[at + 1]]
    if kind == 0 and places:
        at = rng.choice(places)
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    at = rng.randrange(1, len(word) - 1)
    if kind == 1 and not word.endswith("s"):
        shorter = word[:at] + word[at + 1 :]
        return shorter if shorter != word else word[:at] + word[at] + word[at:]
    return word[:at] + word[at] + word[at:]
