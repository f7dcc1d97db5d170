"""Synthetic edits: the everyday ones, and replies that no draft can foretell, made of real files."""

from __future__ import annotations

import json
import keyword
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from plgd.bench.material.pairs import FilePair

__all__ = (
    "ADVERSARIAL",
    "SYNTHETIC",
    "SyntheticEdit",
    "add_field",
    "delete",
    "edit_of",
    "find_rename",
    "instruction_of",
    "quote_style",
    "re_indent",
    "rename",
    "reorder",
    "translate_comments",
    "unforeseen",
)

SyntheticEdit = Callable[[str, str], tuple[str, str] | None]

IDENTIFIER: Final = re.compile(r"\b[A-Za-z_][A-Za-z0-9_]{3,}\b")
SINGLE_QUOTED: Final = re.compile(r"(?<!')'([^'\"\\\n]+)'(?!')")
DOUBLE_QUOTED: Final = re.compile(r'(?<!")"([^\'"\\\n]+)"(?!")')
COMMENT: Final = re.compile(r"(?m)(?<!\S)(#|//)( .*)$")
BLOCK: Final = re.compile(r"(?m)^(?=(?:async )?def |class |@|function |export |const \w+ = )")
CALL: Final = re.compile(r"(?<!def )(?<!function )\b([a-z_]\w{3,})\((?=[\w'\"])")
CODE: Final = ("python", "javascript", "typescript")
MIN_OCCURRENCES: Final = 4
MAX_OCCURRENCES: Final = 80


def find_rename(text: str, language: str) -> tuple[str, str] | None:
    """Return the identifier that is used most (but not everywhere) and a new name for it."""
    if language not in CODE:
        return None
    counts = Counter(word for word in IDENTIFIER.findall(text) if not keyword.iskeyword(word) and word != "self")
    for word, n_uses in counts.most_common():
        if MIN_OCCURRENCES <= n_uses <= MAX_OCCURRENCES:
            return word, f"current_{word}" if "_" in word or word.islower() else f"Current{word}"
    return None


def rename(text: str, language: str) -> tuple[str, str] | None:
    """Rename the identifier that is used most, and nothing else."""
    found = find_rename(text, language)
    if found is None:
        return None
    word, renamed = found
    return text, re.sub(rf"\b{re.escape(word)}\b", renamed, text)


def add_field(text: str, language: str) -> tuple[str, str] | None:
    """Add a field to each object of a JSON file, or an argument to each call of the function that is called most."""
    if language == "json":
        try:
            value = json.loads(text)
        except ValueError:
            return None
        before = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        after = json.dumps(_with_field(value), indent=2, ensure_ascii=False) + "\n"
        return before, after
    if language not in CODE:
        return None
    counts = Counter(name for name in CALL.findall(text) if not keyword.iskeyword(name))
    name, n_calls = counts.most_common(1)[0] if counts else ("", 0)
    if n_calls < MIN_OCCURRENCES:
        return None
    return text, re.sub(rf"(?<!def )(?<!function )\b{name}\((?=[\w'\"])", f"{name}(context, ", text)


def re_indent(text: str, language: str) -> tuple[str, str] | None:  # noqa: ARG001 - every language is indented
    """Halve an indentation by four, double one by two."""
    depths = [len(line) - len(line.lstrip(" ")) for line in text.split("\n") if line.startswith(" ")]
    if len(depths) < MIN_OCCURRENCES:
        return None
    by_four = sum(depth % 4 == 0 for depth in depths) >= 0.9 * len(depths)

    def change(match: re.Match[str]) -> str:
        return match[0][: len(match[0]) // 2] if by_four else 2 * match[0]

    return text, re.sub(r"(?m)^ +", change, text)


def quote_style(text: str, language: str) -> tuple[str, str] | None:
    """Turn the more common kind of quotes into the other."""
    if language not in CODE:
        return None
    single, double = len(SINGLE_QUOTED.findall(text)), len(DOUBLE_QUOTED.findall(text))
    if max(single, double) < MIN_OCCURRENCES:
        return None
    if single > double:
        return text, SINGLE_QUOTED.sub(r'"\1"', text)
    return text, DOUBLE_QUOTED.sub(r"'\1'", text)


def reorder(text: str, language: str) -> tuple[str, str] | None:
    """Put the functions and classes into another order."""
    blocks = _blocks(text, language)
    if blocks is None:
        return None
    order = list(range(1, len(blocks)))
    random.Random(len(text)).shuffle(order)  # noqa: S311 - the same order every time
    return text, "".join([blocks[0], *(blocks[place] for place in order)])


def delete(text: str, language: str) -> tuple[str, str] | None:
    """Delete every third function or class."""
    blocks = _blocks(text, language)
    if blocks is None:
        return None
    return text, "".join(block for place, block in enumerate(blocks) if place % 3 != 2)


def translate_comments(text: str, language: str) -> tuple[str, str] | None:
    """Write each comment in a language that nobody knows: its words backwards."""
    if language not in CODE or len(COMMENT.findall(text)) < MIN_OCCURRENCES:
        return None
    return text, COMMENT.sub(lambda match: match[1] + _foreign(match[2]), text)


SYNTHETIC: Final[dict[str, SyntheticEdit]] = {
    "rename": rename,
    "add-field": add_field,
    "re-indent": re_indent,
    "quote-style": quote_style,
    "reorder": reorder,
    "delete": delete,
    "translate-comments": translate_comments,
}

ADVERSARIAL: Final = ("unrelated", "repetition", "foreign")


def edit_of(pair: FilePair, kind: str) -> FilePair | None:
    """Return a synthetic edit of a pair's older text; None where the text has nothing to edit in that way."""
    made = SYNTHETIC[kind](pair.before, pair.language)
    if made is None or made[0] == made[1]:
        return None
    return replace(pair, before=made[0], after=made[1])


def instruction_of(pair: FilePair, kind: str) -> str:
    """Return what a person would ask for to get a pair's new text."""
    found = find_rename(pair.before, pair.language) if kind == "rename" else None
    return f"Rename {found[0]} to {found[1]}." if found is not None else kind.replace("-", " ").capitalize() + "."


def unforeseen(pair: FilePair, other: FilePair, kind: str) -> FilePair:
    """Return a pair whose new text has nothing to do with the old.

    Args:
        pair: its older text is what seems to be rewritten.
        other: another file.
        kind: `unrelated` (the other file), `repetition` (a few short words in ever new order) or `foreign` (the other
            file in a language that nobody knows).
    """
    if kind == "unrelated":
        after = other.after
    elif kind == "foreign":
        after = "".join(_foreign(line) + "\n" for line in other.after.splitlines())
    else:
        chance = random.Random(len(pair.before))  # noqa: S311 - the same text every time
        after = "".join(chance.choice(("a ", "b ", "if ", "x = ", "\n", "0 ")) for _ in range(1200)) + "\n"
    return replace(pair, after=after)


def _foreign(text: str) -> str:
    return re.sub(r"\w+", lambda match: match[0][::-1], text)


def _blocks(text: str, language: str) -> list[str] | None:
    if language not in CODE:
        return None
    blocks = BLOCK.split(text)
    return blocks if len(blocks) > MIN_OCCURRENCES else None


def _with_field(value: object) -> object:
    if isinstance(value, list):
        return [_with_field(item) for item in value]
    if isinstance(value, dict):
        return {name: _with_field(item) for name, item in value.items()} | {"enabled": True}
    return value
