"""Rules: what a reply does to its source again and again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

from plgd.engine.identifier import is_identifier, replace_parts, split_parts
from plgd.engine.overlay import Standing

__all__ = ("IndentRule", "Rewrite", "Rule", "SpanRule", "WordRule", "Words")

WORD: Final = re.compile(r"[^\W\d]\w*")
INDENTED: Final = re.compile(r"(?<=\n)([ \t]*)(?=[^\s])")


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A place in a text that a rule would change.

    Attributes:
        start: where the old characters begin.
        end: where they end.
        new: what takes their place.
        standing: of the rule.
    """

    start: int
    end: int
    new: str
    standing: Standing


class Words:
    """A text and where its words stand, looked up once for as many rules as there are.

    Args:
        text: the text.

    Attributes:
        text: the same.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def by_word(self) -> dict[str, list[int]]:
        """Where each word begins."""
        places: dict[str, list[int]] = {}
        for match in WORD.finditer(self.text):
            places.setdefault(match[0], []).append(match.start())
        return places

    @cached_property
    def by_part(self) -> dict[str, list[str]]:
        """The words that have a part, by the part in lower case."""
        words: dict[str, list[str]] = {}
        for word in self.by_word:
            for part in dict.fromkeys(split_parts(word)):
                words.setdefault(part, []).append(word)
        return words


class Rule(Protocol):
    """Knows where it would change a text."""

    def find(self, words: Words) -> Iterator[Rewrite]:
        """Yield the places, which do not overlap each other."""
        ...


@dataclass(slots=True)
class WordRule:
    """An identifier has become something else; so have its relatives, if both are identifiers.

    Attributes:
        old: the identifier.
        new: what stands in its place.
        standing: of the identifier itself.
        relatives: of the same parts in other cases or inside longer identifiers, which is less certain.
    """

    old: str
    new: str
    standing: Standing
    relatives: Standing = field(default_factory=Standing)
    old_parts: list[str] = field(init=False)
    new_parts: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Take the parts apart."""
        self.old_parts, self.new_parts = split_parts(self.old), split_parts(self.new)
        if not is_identifier(self.new):
            self.old_parts = []

    def find(self, words: Words) -> Iterator[Rewrite]:
        """Yield the identifier's places, and its relatives' while they do what it does."""
        if self.standing.is_good:
            for start in words.by_word.get(self.old, ()):
                yield Rewrite(start, start + len(self.old), self.new, self.standing)
        if not (self.old_parts and self.relatives.is_good):
            return
        for word in words.by_part.get(self.old_parts[0], ()):
            if word in (self.old, self.new):
                continue
            new = replace_parts(word, self.old_parts, self.new_parts)
            # What has been renamed already contains the old parts, too.
            if new is not None and replace_parts(word, self.new_parts, self.new_parts) is None:
                for start in words.by_word[word]:
                    yield Rewrite(start, start + len(word), new, self.relatives)


@dataclass(slots=True)
class SpanRule:
    """Some characters have become others, twice or more, between the same neighbours.

    Attributes:
        left: what stood before them every time.
        old: the characters; empty for an insertion.
        new: what stands in their place; empty for a deletion.
        right: what stood behind them every time.
        standing: of the rule.
    """

    left: str
    old: str
    new: str
    right: str
    standing: Standing

    def find(self, words: Words) -> Iterator[Rewrite]:
        """Yield the places."""
        if not self.standing.is_good:
            return
        text = words.text
        pattern = self.left + self.old + self.right
        at = text.find(pattern)
        while at >= 0:
            start = at + len(self.left)
            yield Rewrite(start, start + len(self.old), self.new, self.standing)
            at = text.find(pattern, at + max(len(self.left) + len(self.old), 1))


@dataclass(slots=True)
class IndentRule:
    """Lines are indented by another measure.

    Attributes:
        change: from the old blanks to the new.
        standing: of the rule.
    """

    change: Callable[[str], str]
    standing: Standing

    def find(self, words: Words) -> Iterator[Rewrite]:
        """Yield the indentation of each line that it changes."""
        if not self.standing.is_good:
            return
        for match in INDENTED.finditer(words.text):
            new = self.change(match[1])
            if new != match[1]:
                yield Rewrite(match.start(), match.end(), new, self.standing)
