"""Other words for those of a phrasing: people say `scrap` for `delete`, leave out articles, begin with a remark.

What is said here multiplies the phrasings of training alone; those of the examination stay as they were written.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Final

import msgspec

__all__ = ("vary",)

# How often the articles go, as in notes and commit messages.
TERSE: Final = 0.08
_ARTICLE: Final = re.compile(r"(?<![\w{'])(?:[Tt]he|an?) (?=[\w{])")


class _Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    find: str
    put: str


class _Variation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    share: float
    rules: tuple[_Rule, ...]


_FILE: Final = Path(__file__).parent / "variation.toml"
_VARIATION: Final = msgspec.toml.decode(_FILE.read_bytes(), type=_Variation)
_RULES: Final = tuple((re.compile(rule.find), tuple(rule.put.splitlines())) for rule in _VARIATION.rules)


def vary(text: str, rng: Random) -> str:
    """Say a phrasing in other words that mean the same; its slots stay.

    Args:
        text: a template whose choices are made.
        rng: draws the words.
    """
    for pattern, words in _RULES:
        if rng.random() < _VARIATION.share and (found := pattern.search(text)) is not None:
            text = text[: found.start()] + found.expand(rng.choice(words)) + text[found.end() :]
    return _ARTICLE.sub("", text) if rng.random() < TERSE else text
