"""Other words of prose: of the same kind, in the same form."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from training.words import ADJECTIVES, NOUNS, line_list, word_list

__all__ = ("near_phrase", "near_word")

_GROUPS: Final = tuple(line.split() for line in line_list("near_words"))
_EVERYDAY: Final = word_list("everyday")
_PHRASE: Final = re.compile(
    r"\b(?i:the|a|an|our|your|my|this|each|every|no|some|any|these|those|his|her|their) [a-z]+(?: [a-z]+)?"
    r"(?=[.,;:!?)\n]|$| (?:is|are|was|were|has|have|will|can|must|may|should|needs?|to|of|in|on|at|for|with|by|from"
    r"|and|or|but|that|which|who|if|when|before|after|until)\b)"
)
_DETERMINERS: Final = ("the", "our", "your")
# Words that make it no group around a noun, or one with a meaning of its own.
_FIXED: Final = frozenset(word_list("fixed"))


def near_word(old: str, rng: Random) -> str | None:
    """Return another word for a word, in small letters as it is; None when none is known."""
    plural = old.endswith("s") and not old.endswith("ss")
    known = [group for group in _GROUPS if old in group]
    if known:
        return rng.choice([word for word in rng.choice(known) if word != old])
    singles = [group for group in _GROUPS if plural and old[:-1] in group]
    if singles:
        return f"{rng.choice([word for word in rng.choice(singles) if word != old[:-1]])}s"
    if old in NOUNS:
        return rng.choice(NOUNS)
    if plural and old[:-1] in NOUNS:
        return f"{rng.choice(NOUNS)}s"
    return rng.choice(ADJECTIVES) if old in ADJECTIVES else None


def near_phrase(line: str, rng: Random) -> tuple[str, str] | None:
    """Choose a group of words around a noun in a line of prose, and other words for it."""
    found = [one for one in _PHRASE.findall(line) if not _FIXED & set(one.split()[1:])]
    if not found:
        return None
    old = rng.choice(found)
    first, *words = old.split(" ")
    other = near_word(words[-1], rng) or rng.choice(NOUNS)
    draw = rng.random()
    if draw < 0.35:
        new = [first, *words[:-1], other]
    elif draw < 0.6:
        new = [first, rng.choice(_EVERYDAY), *words[-1:]]
    elif draw < 0.8:
        new = [first, rng.choice(_EVERYDAY), other]
    else:
        new = [rng.choice(_DETERMINERS), other]
    if new[0].lower() in ("a", "an"):
        new[0] = new[0][0] + ("n" if new[1][0] in "aeiou" else "")
    new[0] = new[0].capitalize() if first[0].isupper() else new[0]
    return None if " ".join(new) == old else (old, " ".join(new))
