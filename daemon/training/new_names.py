"""New names for things: in the style of the old one, and not in the text yet."""

from __future__ import annotations

import builtins
import keyword
from random import Random
from typing import Final

from training.spans import word_pattern
from training.words import ADJECTIVES, NOUNS, VERBS, camel, parts_of, pascal, snake, title_words, word_list

__all__ = ("RESERVED", "new_name", "other_case", "plain_name")

RESERVED: Final = (
    frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {"self", "cls", "args", "kwargs", "_", "match", "case"}
)
_JS_WORDS: Final = frozenset(word_list("script_words"))
TRIES: Final = 12


def new_name(old: str, role: str, text: str, rng: Random) -> str | None:
    """Return a name that the text does not hold.

    Args:
        old: the name that it takes the place of, whose case it follows.
        role: `variable`, `function` or `class`.
        text: what it must not occur in.
        rng: draws it.
    """
    for _ in range(TRIES):
        candidate = _in_case_of(old, _words(old, role, rng), role)
        taken = candidate in RESERVED or candidate in _JS_WORDS or keyword.issoftkeyword(candidate)
        if candidate != old and not taken and candidate.isidentifier() and not word_pattern(candidate).search(text):
            return candidate
    return None


def other_case(name: str) -> str | None:
    """Return a name in the other case: `snake_case` for `camelCase` and the other way round; None for one word."""
    bare = name.strip("_")
    parts = parts_of(bare)
    if len(parts) < 2 or bare != bare.strip("0123456789"):
        return None
    if bare == snake(parts):
        return name.replace(bare, camel(parts))
    if bare == camel(parts):
        return name.replace(bare, snake(parts))
    return None


def _words(old: str, role: str, rng: Random) -> list[str]:
    parts = parts_of(old) or ["value"]
    draw = rng.random()
    if draw < 0.2:
        return [rng.choice(ADJECTIVES), *parts]
    if draw < 0.32 and len(parts) > 1:
        return [*parts[:-1], rng.choice(NOUNS)]
    if draw < 0.4 and role != "function":
        return [*parts, rng.choice(("list", "map", "name", "value", "id", "count", "text", "data", "info", "item"))]
    if draw < 0.46 and len(parts) > 1:
        return parts[1:]
    if role == "function":
        return [rng.choice(VERBS), *title_words(rng, rng.choice((1, 1, 2)))]
    if draw < 0.55 and role == "variable":
        return [rng.choice("abcdefghijkmnpqrstuvwxyz")]
    return title_words(rng, rng.choice((1, 1, 2, 2, 3)))


def _in_case_of(old: str, words: list[str], role: str) -> str:
    bare = old.strip("_")
    if role == "class":
        return pascal(words)
    if bare.isupper() and len(bare) > 1:
        return snake(words).upper()
    lead = "_" if old.startswith("_") else ""
    if any(char.isupper() for char in bare[1:]):
        return lead + (pascal(words) if bare[0].isupper() else camel(words))
    return lead + snake(words)


def plain_name(rng: Random) -> str:
    """Return a name in `snake_case`, such as a key of settings."""
    return snake(title_words(rng, rng.choice((1, 1, 2))))
