"""JavaScript and TypeScript as tokens: enough to tell names from strings, comments and properties."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from training.words import word_list

__all__ = ("KEYWORDS", "Token", "declared_names", "parse_script")

TokenKind = Literal["comment", "string", "template", "regex", "name", "number", "mark"]

KEYWORDS: Final = frozenset(word_list("script_keywords"))
_TOKEN: Final = re.compile(
    r"(?P<blank>\s+)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<number>\d[\w.]*)|(?P<name>[A-Za-z_$][\w$]*)|(?P<mark>=>|===|!==|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\.\.\.|[^\s\w])",
    re.DOTALL,
)
_REGEX: Final = re.compile(r"/(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_BEFORE_REGEX: Final = frozenset(word_list("before_regex"))


@dataclass(frozen=True, slots=True)
class Token:
    """A token.

    Attributes:
        kind: what it is.
        text: its source.
        start: of its first character.
    """

    kind: TokenKind
    text: str
    start: int

    @property
    def end(self) -> int:
        """The place after its last character."""
        return self.start + len(self.text)


@lru_cache(maxsize=128)
def parse_script(text: str) -> tuple[Token, ...] | None:
    """Return a text's tokens; None for templates with templates inside and what no tokenizer of this size takes."""
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        if text[at] == "`":
            end = _template_end(text, at)
            if end is None:
                return None
            tokens.append(Token("template", text[at:end], at))
            at = end
            continue
        if text[at] == "/" and not text.startswith(("//", "/*"), at):
            before = next((one for one in reversed(tokens) if one.kind != "comment"), None)
            if before is None or before.text in _BEFORE_REGEX:
                match = _REGEX.match(text, at)
                if match is None:
                    return None
                tokens.append(Token("regex", match[0], at))
                at = match.end()
                continue
        found = _TOKEN.match(text, at)
        if found is None:
            return None
        if found.lastgroup == "mark" and found[0] in "\"'":
            return None
        if found.lastgroup != "blank":
            tokens.append(Token(found.lastgroup, found[0], at))  # type: ignore[arg-type]  # the groups' names are the kinds
        at = found.end()
    return tuple(tokens)


def declared_names(tokens: tuple[Token, ...], *words: str) -> list[str]:
    """Return the names that stand behind one of the given words, such as `const` or `function`."""
    return [
        after.text
        for before, after in itertools.pairwise(tokens)
        if before.text in words and after.kind == "name" and after.text not in KEYWORDS
    ]


def _template_end(text: str, start: int) -> int | None:
    at = start + 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        if text[at] == "`":
            return at + 1
        if text.startswith("${", at):
            close = text.find("}", at)
            if close < 0 or "`" in text[at:close] or "{" in text[at + 2 : close]:
                return None
            at = close
        at += 1
    return None
