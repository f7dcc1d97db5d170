"""Substitutions: learnt from what the reply has changed so far, dropped when it does otherwise."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from plgd.engine.identifier import is_identifier
from plgd.engine.overlay import Standing
from plgd.engine.rules import IndentRule, Rewrite, Rule, SpanRule, WordRule, Words

__all__ = (
    "Sighting",
    "Substitutions",
)

WORDS: Final = re.compile(r"\w+|\n|[^\S\n]+|[^\w\s]")
# A whole line break with the blanks of the next line, and what that line begins with.
LINE_START: Final = re.compile(r"\n([ \t]*)(?=\S)")

# Words of context that a span rule compares on each side, and how many of its characters must be no blanks.
N_CONTEXT: Final = 4
LEAST_CONTEXT: Final = 2
# Confirmations that an announcement is worth.
ANNOUNCED: Final = 2
# Rules of each kind that are kept; the oldest goes first.
MAX_RULES: Final = 32
MAX_SIGHTINGS: Final = 64
# Longer changes are rewritings, not substitutions.
MAX_WORDS: Final = 24
MAX_TEXT: Final = 400


@dataclass(frozen=True, slots=True)
class Sighting:
    """A change that is no rule yet: its text and the words around it."""

    left: tuple[str, ...]
    right: tuple[str, ...]


class Substitutions:
    """What the reply does to its source, as rules.

    A renamed identifier is a rule at once: it is meant everywhere. Other spans (quotes, an argument that is added, a
    field, a semicolon dropped) become a rule when they are seen twice, between whatever words both had as neighbours.
    A change of indentation becomes one when two lines agree on a measure.
    """

    def __init__(self) -> None:
        self._words: dict[str, WordRule] = {}
        self._spans: dict[tuple[str, str], SpanRule] = {}
        self._sightings: dict[tuple[str, str], Sighting] = {}
        self._indents: list[tuple[str, str]] = []
        self._indent: IndentRule | None = None

    def __len__(self) -> int:
        return len(self._words) + len(self._spans) + (self._indent is not None)

    def expect(self, old: str, new: str) -> None:
        """Take an identifier to become something else before the reply has shown it."""
        _keep(self._words, old, WordRule(old, new, Standing(n_confirmed=ANNOUNCED)), MAX_RULES)

    def rewrite(self, text: str) -> list[Rewrite]:
        """Return what is expected to change in a text, in order, without overlaps; words go before spans."""
        words = Words(text)
        taken: list[Rewrite] = []
        rules: list[Rule] = [*self._words.values(), *self._spans.values()]
        if self._indent is not None:
            rules.append(self._indent)
        for rule in rules:
            for found in rule.find(words):
                place = bisect_left(taken, _order(found), key=_order)
                is_free = place == 0 or taken[place - 1].end <= found.start
                if is_free and (place == len(taken) or taken[place].start >= found.end):
                    taken.insert(place, found)
        return taken

    def learn(self, old: str, new: str, before: str = "") -> bool:
        """Learn from a change.

        Args:
            old: text of the source around the change, some agreeing words on both sides.
            new: what the reply made of it.
            before: the reply up to the change, or the end of that.

        Returns:
            Whether the rules are other than before.
        """
        if max(len(old), len(new)) > MAX_TEXT:
            return False
        changed = self._learn_indent(old, new)
        old_words, new_words = WORDS.findall(_level(old, new)), WORDS.findall(new)
        matcher = difflib.SequenceMatcher(None, old_words, new_words, autojunk=False)
        for tag, i, i_end, j, j_end in matcher.get_opcodes():
            if tag == "equal" or max(i_end - i, j_end - j) > MAX_WORDS:
                continue
            if i_end == len(old_words):
                continue  # cut off: more of it may follow
            if i_end - i == j_end - j:
                for place in range(i_end - i):
                    changed |= self._learn_span(old_words, i + place, i + place + 1, new_words[j + place], before)
            else:
                changed |= self._learn_span(old_words, i, i_end, "".join(new_words[j:j_end]), before)
        return changed

    def _learn_span(self, words: Sequence[str], start: int, end: int, new: str, before: str) -> bool:
        old = "".join(words[start:end])
        if old == new or not (old + new).strip():
            return False
        if end - start == 1 and is_identifier(old) and new.strip():
            return self._learn_word(old, new, before)
        key = old, new
        rule = self._spans.get(key)
        sighting = Sighting(tuple(words[max(start - N_CONTEXT, 0) : start]), tuple(words[end : end + N_CONTEXT]))
        earlier = self._sightings.get(key)
        if earlier is None:
            _keep(self._sightings, key, sighting, MAX_SIGHTINGS)
            return False
        sighting = _common(earlier, sighting)
        self._sightings[key] = sighting
        left, right = "".join(sighting.left), "".join(sighting.right)
        if not old.strip() and len("".join((left + right).split())) < LEAST_CONTEXT:
            self._spans.pop(key, None)
            return rule is not None
        if rule is not None and (rule.left, rule.right) == (left, right):
            rule.standing.n_confirmed += 1
            return False
        standing = Standing(n_confirmed=2) if rule is None else rule.standing
        _keep(self._spans, key, SpanRule(left, old, new, right, standing), MAX_RULES)
        return True

    def _learn_word(self, old: str, new: str, before: str) -> bool:
        rule = self._words.get(old)
        if rule is not None and rule.new == new:
            was_good = rule.standing.is_good
            rule.standing.n_confirmed += 1
            return rule.standing.is_good != was_good
        # A word that stayed elsewhere is hardly being renamed.
        n_denied = int(re.search(rf"\b{re.escape(old)}\b", before) is not None)
        _keep(self._words, old, WordRule(old, new, Standing(n_confirmed=1, n_denied=n_denied)), MAX_RULES)
        return True

    def _learn_indent(self, old: str, new: str) -> bool:
        pairs = [pair for pair in zip(_indents(old), _indents(new), strict=False) if pair[0] != pair[1]]
        if not pairs or old.count("\n") != new.count("\n"):
            return False
        self._indents = [*self._indents, *pairs][-3:]
        if len(self._indents) < 2:
            return False
        if self._indent is not None and all(self._indent.change(a) == b for a, b in self._indents):
            self._indent.standing.n_confirmed += 1
            return False
        change = next((c for c in _measures(*self._indents[-1]) if all(c(a) == b for a, b in self._indents)), None)
        had = self._indent is not None
        self._indent = IndentRule(change, Standing(n_confirmed=2)) if change is not None else None
        return had or change is not None


def _order(rewrite: Rewrite) -> tuple[int, int]:
    return rewrite.start, rewrite.end


def _level(old: str, new: str) -> str:
    """Give the old text the new one's indentation where only that differs, so that other changes stand out."""
    old_lines, new_lines = old.split("\n"), new.split("\n")
    if len(old_lines) != len(new_lines):
        return old
    return "\n".join(
        new_line if place and old_line.lstrip() == new_line.lstrip() else old_line
        for place, (old_line, new_line) in enumerate(zip(old_lines, new_lines, strict=True))
    )


def _indents(text: str) -> Iterator[str]:
    return (match[1] for match in LINE_START.finditer(text))


def _measures(old: str, new: str) -> Iterator[Callable[[str], str]]:
    """Yield the ways to turn one indentation into another that may hold for other lines."""
    if old == 2 * new:
        yield lambda blanks: blanks[: len(blanks) // 2]
    if new == 2 * old:
        yield lambda blanks: 2 * blanks
    if new.startswith(old):
        added = new[len(old) :]
        yield lambda blanks: blanks + added
    if old.startswith(new):
        n_dropped = len(old) - len(new)
        yield lambda blanks: blanks[n_dropped:]
    for n_blanks in (2, 4, 8):
        unit = " " * n_blanks
        yield lambda blanks, unit=unit: blanks.replace(unit, "\t")  # type: ignore[misc]  # one unit for each
        yield lambda blanks, unit=unit: blanks.replace("\t", unit)  # type: ignore[misc]  # as above


def _common(one: Sighting, other: Sighting) -> Sighting:
    left: list[str] = []
    for a, b in zip(reversed(one.left), reversed(other.left), strict=False):
        if a != b:
            break
        left.insert(0, a)
    right: list[str] = []
    for a, b in zip(one.right, other.right, strict=False):
        if a != b:
            break
        right.append(a)
    return Sighting(tuple(left), tuple(right))


def _keep(table: dict, key: object, value: object, limit: int) -> None:  # type: ignore[type-arg]  # any of the tables
    """Enter a value; the oldest makes room."""
    table.pop(key, None)
    if len(table) >= limit:
        del table[next(iter(table))]
    table[key] = value
