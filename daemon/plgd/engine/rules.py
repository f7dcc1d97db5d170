"""Rules: what a reply does to its source again and again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from plgd.engine.identifier import is_identifier, replace_parts, split_parts
from plgd.engine.overlay import Standing

__all__ = ("IndentRule", "Rewrite", "Rule", "SpanRule", "WordRule")

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


class Rule(Protocol):
    """Knows where it would change a text."""

    def find(self, text: str) -> Iterator[Rewrite]:
        """Yield the places, in order."""
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

    def find(self, text: str) -> Iterator[Rewrite]:
        """Yield the identifier's places, and its relatives' while they do what it does."""
        if self.old_parts and self.relatives.is_good and self.old_parts[0] in text.lower():
            for match in WORD.finditer(text):
                if match[0] == self.old:
                    if self.standing.is_good:
                        yield Rewrite(match.start(), match.end(), self.new, self.standing)
                elif match[0] != self.new:
                    new = replace_parts(match[0], self.old_parts, self.new_parts)
                    # What has been renamed already contains the old parts, too.
                    if new is not None and replace_parts(match[0], self.new_parts, self.new_parts) is None:
                        yield Rewrite(match.start(), match.end(), new, self.relatives)
        elif self.standing.is_good and self.old in text:
            for match in re.finditer(rf"\b{re.escape(self.old)}\b", text):
                yield Rewrite(match.start(), match.end(), self.new, self.standing)


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

    def find(self, text: str) -> Iterator[Rewrite]:
        """Yield the places."""
        if not self.standing.is_good:
            return
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

    def find(self, text: str) -> Iterator[Rewrite]:
        """Yield the indentation of each line that it changes."""
        if not self.standing.is_good:
            return
        for match in INDENTED.finditer(text):
            new = self.change(match[1])
            if new != match[1]:
                yield Rewrite(match.start(), match.end(), new, self.standing)
