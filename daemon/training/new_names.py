"""New names for things: such as a person would choose, in the style of the old one, and not in the text yet."""

from __future__ import annotations

import builtins
import keyword
from random import Random
from typing import Final

from training.spans import word_pattern
from training.words import ADJECTIVES, NOUNS, VERBS, camel, line_list, parts_of, pascal, snake, title_words, word_list

__all__ = ("RESERVED", "new_key", "new_name", "other_case", "plain_name", "spoken", "written_out")

RESERVED: Final = (
    frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {"self", "cls", "args", "kwargs", "_", "match", "case"}
)
TRIES: Final = 16
_JS_WORDS: Final = frozenset(word_list("script_words"))
_LONG_FORMS: Final = dict(line.split() for line in line_list("abbreviations"))
_QUALIFIERS: Final = word_list("qualifiers")
_KIN: Final = {name: line_list(name) for name in ("kin", "kin_verbs", "kin_classes")}
# What a name of one letter may stand for.
_LETTERS: Final = {
    "a": "first left",
    "b": "second right other",
    "c": "char column child",
    "d": "data delta mapping",
    "e": "error element event",
    "f": "file function handle",
    "g": "group graph",
    "h": "height header",
    "i": "index position row",
    "j": "column other_index inner",
    "k": "key name count",
    "l": "line left items",
    "m": "match message module",
    "n": "count number size",
    "o": "obj option output",
    "p": "path point person",
    "q": "queue query",
    "r": "result row response",
    "s": "text string source",
    "t": "time token total",
    "u": "user url",
    "v": "value version",
    "w": "word width",
    "x": "value item left",
    "y": "other height right",
    "z": "depth last",
}


def new_name(old: str, role: str, text: str, rng: Random) -> str | None:
    """Return a name that the text does not hold.

    Args:
        old: the name that it takes the place of, whose case it follows.
        role: `variable`, `function` or `class`.
        text: what it must not occur in.
        rng: draws it.
    """
    for _ in range(TRIES):
        words = _words(old, role, rng)
        candidate = _in_case_of(old, words, role) if words else old
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


def new_key(old: str, text: str, rng: Random) -> str | None:
    """Return a key of data or settings in the style of an old one that the text does not hold; None: none was found."""
    for _ in range(TRIES):
        words = _words(old, "variable", rng)
        key = "-".join(words) if "-" in old else _in_case_of(old, words, "variable") if words else old
        if key != old and not word_pattern(key).search(text):
            return key
    return None


def plain_name(rng: Random) -> str:
    """Return a name in `snake_case`, such as a key of settings."""
    return snake(title_words(rng, rng.choice((1, 1, 2))))


def spoken(name: str) -> str:
    """Say a name in words: `the maximum upload size` is `maxUploadSize` without its article."""
    return " ".join(written_out(parts_of(name)))


def written_out(parts: list[str]) -> list[str]:
    """Return the words of a name with its short forms written out."""
    return [word for part in parts for word in _LONG_FORMS.get(part, part).split("_")]


def _words(old: str, role: str, rng: Random) -> list[str]:
    """Return the words of another name; empty when the way that was drawn leads to none."""
    parts = parts_of(old) or ["value"]
    draw = rng.random()
    if len(parts) == 1 and len(parts[0]) == 1 and role == "variable":
        return rng.choice(_LETTERS.get(parts[0], "value").split()).split("_") if draw < 0.7 else title_words(rng, 1)
    if draw < 0.4 and written_out(parts) != parts:
        return written_out(parts)
    if draw < 0.45:
        return _akin(parts, role, rng)
    if draw < 0.75:
        return _more_exact(parts, role, rng)
    if draw < 0.8:
        return parts[1:] if len(parts) > 2 or (len(parts) > 1 and role != "function") else []
    if role == "function":
        return [rng.choice(VERBS), *title_words(rng, rng.choice((1, 1, 2)))]
    return title_words(rng, rng.choice((1, 2, 2, 3)))


def _akin(parts: list[str], role: str, rng: Random) -> list[str]:
    """Put a word of the same kind in the place of one."""
    groups = _KIN["kin"]
    if role == "function" and rng.random() < 0.7:
        index, groups = 0, _KIN["kin_verbs"]
    else:
        index = rng.randrange(len(parts)) if rng.random() < 0.4 else len(parts) - 1
        groups = _KIN["kin_classes"] if role == "class" and rng.random() < 0.7 else groups
    known = [line.lower().split() for line in groups]
    others = sorted({other for group in known if parts[index] in group for other in group} - {parts[index]})
    return [*parts[:index], rng.choice(others), *parts[index + 1 :]] if others else []


def _more_exact(parts: list[str], role: str, rng: Random) -> list[str]:
    """Add a word before or behind."""
    if role == "function":
        return rng.choice(([*parts, rng.choice(NOUNS)], [parts[0], rng.choice(ADJECTIVES), *parts[1:]]))
    if role == "class":
        return rng.choice(([rng.choice(ADJECTIVES), *parts], ["base", *parts], [rng.choice(NOUNS), *parts]))
    last = parts[-1]
    if last in ("count", "number", "num", "len"):
        return ["n", *(parts[:-1] or [f"{rng.choice(NOUNS)}s"])]
    if last.endswith("s") and len(last) > 3:
        return rng.choice(([*parts, "list"], ["all", *parts], [rng.choice(_QUALIFIERS), *parts]))
    tail = rng.choice(("name", "value", "id", "count", "text", "info", "item", "index", "path", "size"))
    return [*parts, tail] if rng.random() < 0.35 and last != tail else [rng.choice(_QUALIFIERS), *parts]


def _in_case_of(old: str, words: list[str], role: str) -> str:
    bare = old.strip("_")
    if role == "class":
        return pascal(words)
    if bare.isupper() and len(bare) > 1:
        return snake(words).upper()
    lead = "_" if old.startswith("_") else ""
    if any(char.isupper() for char in bare[1:]):
        return lead + (pascal(words) if bare[0].isupper() else camel(words))
    if bare[:1].isupper():
        return lead + pascal(words)
    return lead + snake(words)
