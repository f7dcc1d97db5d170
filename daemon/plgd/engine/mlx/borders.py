"""Borders: places at which a text can be cut so that its parts tokenize alone as they do together.

Two kinds of place promise that for the tokenizers of today: before the blank that follows a word, and after a line
feed that a word follows. Whether a tokenizer keeps the promise is found out, not believed. A kind is used when no
token of the vocabulary reaches across it, so that no merge can, and when texts that are cut there in many ways
tokenize alike in parts and as a whole, so that neither the pre-tokenizer nor the normalizer looks across.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

__all__ = ("NO_BORDER", "find_borders")

# Matches nowhere: a text is tokenized as a whole.
NO_BORDER: Final = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of border.

    Attributes:
        pattern: matches, without width, at the border; looks one character back and two ahead.
        crossing: what a token would spell that reaches across.
        before: what may stand before such a border.
        after: what may stand after it.
    """

    pattern: str
    crossing: re.Pattern[str]
    before: tuple[str, ...]
    after: tuple[str, ...]


_WORDS: Final = (
    "x",
    "return",
    "Foo",
    "HTTPResponse2",
    "12",
    "1234567",
    "x_",
    "(",
    "):",
    "];",
    "'",
    "it's",
    "//",
    "!!",
    "<|",
    "#",
)
_KINDS: Final = (
    _Kind(
        r"(?<=[!-~])(?= [!-~])",
        re.compile("[!-~] "),
        (*_WORDS, *(f"{space}{word}" for space in ("\n    ", "  ", "\t", "é") for word in _WORDS)),
        (*(f" {word}" for word in _WORDS), " s\n", " =\n\n  y", " 's", " 1 ", " x\u0301", " a  b", " \"\n"),
    ),
    _Kind(
        r"(?<=\n)(?=[^\W_])",
        re.compile(r"\n[^\W_]"),
        (*(f"{word}\n" for word in _WORDS), "\n", "\n\n", "x\n\n\n", "x \n", "x\n  \n", "):\n\n", "x\t\n", "é\n"),
        ("x", "return y", "Foo", "12", "1234", "é", "漢字", "x\u0301", "s\n", "ll\n", "a  b", "ﬁ"),
    ),
)  # fmt: skip


def find_borders(encode: Callable[[str], list[int]], spellings: Iterable[str]) -> re.Pattern[str]:
    """Find the borders that a tokenizer keeps.

    Args:
        encode: tokenizes a text that stands anywhere in another.
        spellings: what each token of the vocabulary stands for, added ones included.

    Returns:
        A pattern that matches, without width, at every border that may be used.
    """
    kinds = list(_KINDS)
    for spelling in spellings:
        kinds = [kind for kind in kinds if kind.crossing.search(spelling) is None]
    patterns = [kind.pattern for kind in kinds if _holds(encode, kind)]
    return re.compile("|".join(patterns)) if patterns else NO_BORDER


def _holds(encode: Callable[[str], list[int]], kind: _Kind) -> bool:
    before = {text: encode(text) for text in kind.before}
    after = {text: encode(text) for text in kind.after}
    return all(
        encode(left + right) == tokens + more for left, tokens in before.items() for right, more in after.items()
    )
