"""Words that operations put into texts: names, values, sentences."""

from __future__ import annotations

import keyword
import re
import tomllib
from pathlib import Path
from random import Random
from typing import Final

__all__ = (
    "ADJECTIVES",
    "NOUNS",
    "SENTENCES",
    "VERBS",
    "camel",
    "line_list",
    "parts_of",
    "pascal",
    "sentence",
    "snake",
    "title_words",
    "word",
    "word_list",
)

_LISTS: Final = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


def word_list(name: str) -> tuple[str, ...]:
    """Return a list of `words.toml` whose words stand between blanks."""
    return tuple(_LISTS[name].split())


def line_list(name: str) -> tuple[str, ...]:
    """Return a list of `words.toml` that has one entry a line."""
    return tuple(_LISTS[name].splitlines())


NOUNS: Final = word_list("nouns")
ADJECTIVES: Final = word_list("adjectives")
VERBS: Final = word_list("verbs")
SENTENCES: Final = line_list("sentences")

_BOUNDARY: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|[0-9]+")


def parts_of(name: str) -> list[str]:
    """Return the words of an identifier in lower case."""
    return [part.lower() for part in _BOUNDARY.findall(name)]


def snake(parts: list[str]) -> str:
    """Write words as `snake_case`."""
    return "_".join(parts)


def camel(parts: list[str]) -> str:
    """Write words as `camelCase`."""
    return parts[0] + "".join(part.capitalize() for part in parts[1:])


def pascal(parts: list[str]) -> str:
    """Write words as `PascalCase`."""
    return "".join(part.capitalize() for part in parts)


def word(rng: Random) -> str:
    """Return a noun."""
    return rng.choice(NOUNS)


def title_words(rng: Random, n_words: int) -> list[str]:
    """Return words of a name: adjectives, then a noun; never a keyword alone."""
    while True:
        words = [*(rng.choice(ADJECTIVES) for _ in range(n_words - 1)), rng.choice(NOUNS)]
        if not keyword.iskeyword("_".join(words)):
            return words


def sentence(rng: Random) -> str:
    """Return a sentence without its full stop, such as a comment or a docstring has."""
    if rng.random() < 0.55:
        return rng.choice(SENTENCES)
    verb, noun, other = rng.choice(VERBS).capitalize(), rng.choice(NOUNS), rng.choice(NOUNS)
    adjective = rng.choice(ADJECTIVES)
    return rng.choice(
        (
            f"{verb} the {adjective} {noun}",
            f"{verb} the {noun} and the {other}",
            f"{verb} each {noun} of the {other}",
            f"The {noun} must not be {adjective}",
            f"{verb} the {noun} before the {other}",
            f"{verb} a {adjective} {noun} for the {other}",
            f"{verb} all {adjective} {noun}s",
        )
    )
