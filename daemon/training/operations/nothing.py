"""Requests for what is done already or cannot be done: the right answer changes nothing."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from training.edit import CODE, Edit, Operation, Operator, Passage
from training.spans import word_pattern
from training.words import NOUNS, snake, title_words, word

__all__ = (
    "OPERATIONS",
    "nothing",
)

_PAIR: Final = re.compile(r"""^ *["']?([A-Za-z_]\w*)["']?(?: = |: )("[\w. -]+"|\w[\w.]*),?$""", re.MULTILINE)
EVERY: Final = (*CODE, "python", "markdown", "text", "json", "toml", "yaml")


def nothing(passage: Passage, rng: Random) -> Edit | None:
    """Leave a text as it is."""
    options: list[Operator] = [_absent_name, _said_so]
    if passage.language == "python":
        options += [_python_done, _python_done, _imported_already]
    if passage.language in ("markdown", "text"):
        options += [_prose_done]
    if passage.language in CODE:
        options += [_code_done]
    if passage.language in ("json", "toml", "yaml"):
        options += [_set_already, _set_already]
    return rng.choice(options)(passage, rng)


def _absent_name(passage: Passage, rng: Random) -> Edit | None:
    """A name or word that the text does not have."""
    old = (
        snake(title_words(rng, rng.choice((1, 1, 2))))
        if passage.language not in ("markdown", "text")
        else rng.choice(NOUNS)
    )
    if re.search(re.escape(old), passage.text, re.IGNORECASE):
        return None
    draw = rng.random()
    if draw < 0.6:
        return Edit("no_change", passage.text, {"old": old, "new": word(rng)})
    return Edit("no_change", passage.text, {"absent": old})


def _set_already(passage: Passage, rng: Random) -> Edit | None:
    """A key that has the wanted value."""
    found = _PAIR.findall(passage.text)
    keys = [key for key, _ in found]
    single = [(key, value) for key, value in found if keys.count(key) == 1]
    if not single:
        return None
    key, value = rng.choice(single)
    return Edit("no_change", passage.text, {"key": key, "value": value.strip('"')})


def _imported_already(passage: Passage, rng: Random) -> Edit | None:
    """A module that is imported."""
    found = re.findall(r"^import (\w+)$", passage.text, re.MULTILINE)
    return Edit("no_change", passage.text, {"module": rng.choice(found)}) if found else None


def _said_so(passage: Passage, rng: Random) -> Edit | None:
    return Edit("no_change", passage.text) if rng.random() < 0.4 else None


def _python_done(passage: Passage, rng: Random) -> Edit | None:
    if "print(" not in passage.text and rng.random() < 0.4:
        return Edit("no_change", passage.text, {"prints": "print"})
    if "#" not in passage.text and rng.random() < 0.6:
        return Edit("no_change", passage.text, {"comments": "comments"})
    if '"""' not in passage.text and "'''" not in passage.text:
        return Edit("no_change", passage.text, {"docstrings": "docstrings"})
    if "'" not in passage.text and '"' in passage.text:
        return Edit("no_change", passage.text, {"quotes": "double quotes"})
    return None


def _prose_done(passage: Passage, _rng: Random) -> Edit | None:
    if passage.language == "markdown" and "**" not in passage.text:
        return Edit("no_change", passage.text, {"bold": "bold"})
    return None


def _code_done(passage: Passage, rng: Random) -> Edit | None:
    if "\t" not in passage.text and rng.random() < 0.5:
        return Edit("no_change", passage.text, {"tabs": "tabs"})
    if not re.search(r"[ \t]\n", passage.text):
        return Edit("no_change", passage.text, {"trailing": "trailing blanks"})
    if not word_pattern("TODO").search(passage.text):
        return Edit("no_change", passage.text, {"todos": "TODO"})
    return None


OPERATIONS: Final = (Operation("no_change", nothing, EVERY, 20),)
