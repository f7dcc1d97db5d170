"""Slips of the finger in prose, of which everyone knows how they are to be mended."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.operations.markdown_lines import fenced_lines
from training.words import line_list, word_list

__all__ = ("MARKUP", "mistyped", "with_typos")

# How a line begins that is no running text.
MARKUP: Final = re.compile(r"\s*(?:[#|>\-*+=~`:]|\d+[.)]|    |\t|\.\. |\.\.\.|!\[|\[|<)")

_WORD: Final = re.compile(r"(?<![\w`/.@\[-])[a-z]{3,11}(?![\w`/@\]-]|[.:][\w/])")
_LISTS: Final = ("subjects", "predicates", "starters", "statements", "items", "sentences")
_USUAL: Final = {word: wrong for word, *wrong in map(str.split, line_list("misspelled"))}
# Words whose spelling everybody knows; a slip in another might be mended in several ways.
_SPELLED: Final = frozenset(word_list("spelled")) | frozenset(
    word for name in _LISTS for line in line_list(name) for word in re.findall(r"\b[a-z]{5,11}\b", line)
)
_OTHERS: Final = _SPELLED | frozenset(word_list("slips"))
MIN_PLACES: Final = 3
# How often a word gets the misspelling that it usually has, where it has one; and a wrong vowel.
USUAL: Final = 0.6
WRONG_VOWEL: Final = 0.1
TRIES: Final = 6
SHORTEST: Final = 5


def with_typos(text: str, rng: Random, n_typos: int) -> str | None:
    """Mistype words of a text's running prose; None for a text that has little."""
    places: list[tuple[int, str]] = []
    offset = 0
    lines = split_lines(text)
    for line, fenced in zip(lines, fenced_lines(lines), strict=True):
        if not fenced and not MARKUP.match(line) and len(line) > 20:
            places += [
                (offset + match.start(), match[0])
                for match in _WORD.finditer(line)
                if match[0] in _SPELLED or match[0] in _USUAL
            ]
        offset += len(line)
    if len(places) < MIN_PLACES:
        return None
    for start, word in sorted(rng.sample(places, min(n_typos, len(places) // 2)), reverse=True):
        text = text[:start] + mistyped(word, rng) + text[start + len(word) :]
    return text


def mistyped(word: str, rng: Random) -> str:
    """Misspell a word, such that it is no other word: as people do, or by a slip in one place that is not the first."""
    if word in _USUAL and (len(word) < SHORTEST or rng.random() < USUAL):
        return rng.choice(_USUAL[word])
    for _ in range(TRIES):
        wrong = _slipped(word, rng)
        if wrong != word and wrong not in _OTHERS:
            return wrong
    return word[:1] + word


def _slipped(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    if rng.random() < WRONG_VOWEL:
        return word[:at] + rng.choice("aeiou") + word[at + 1 :] if word[at] in "aeiou" else word
    kind = rng.randrange(3)
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :] if kind == 1 else word[:at] + word[at] + word[at:]
