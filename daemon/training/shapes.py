"""What a request is shown of a file: a whole one of some length, or a range of lines in it."""

from __future__ import annotations

import ast
import bisect
import itertools
import re
from collections.abc import Sequence
from random import Random
from typing import Final

from plgd.edits.view import view
from plgd.text.lines import split_lines
from training.corpus import CorpusText
from training.cutting import borders
from training.edit import Passage
from training.python_text import parse_python
from training.spans import changed_lines, is_blank
from training.synthetic import SYNTHETIC

__all__ = ("BUCKETS", "SHARES", "SHARES_OF_RANGES", "Shelf", "passage_of", "range_around", "regions")

# Lengths of texts in lines, from and up to, and how often each is wanted.
BUCKETS: Final = ((2, 11), (12, 30), (31, 80), (81, 300))
SHARES: Final = (15, 22, 29, 34)
SHARES_OF_RANGES: Final = (0, 28, 35, 37)
# Most lines of a range, and by how many it is wider than what changes.
MAX_RANGE: Final = 90
MAX_MARGIN: Final = 5
MAX_GAP_TRIES: Final = 6
SHORTEST: Final = 30
# Letters of scripts that the base was not trained on: it cannot copy them, whatever is asked.
_FOREIGN: Final = re.compile(r"[^\x00-\u024f\u2000-\u2bff]")
MAX_FOREIGN: Final = 0.1


class Shelf:
    """The texts of a split by language and length; texts of a wanted length are cut from longer ones too."""

    def __init__(self, texts: Sequence[CorpusText]) -> None:
        """Sort texts by language and length."""
        self._by_language: dict[str, list[CorpusText]] = {}
        readable = [text for text in texts if len(_FOREIGN.findall(text.text)) <= MAX_FOREIGN * len(text.text)]
        for text in sorted(readable, key=lambda one: one.text.count("\n")):
            self._by_language.setdefault(text.language, []).append(text)
        self._n_lines = {
            language: [text.text.count("\n") for text in group] for language, group in self._by_language.items()
        }

    def languages(self) -> frozenset[str]:
        """Return the languages that there are texts of, written or made."""
        return frozenset(self._by_language) | frozenset(SYNTHETIC)

    def take(self, language: str, rng: Random, bucket: tuple[int, int]) -> CorpusText | None:
        """Return a text of a language whose number of lines is in a bucket; None if none was found."""
        made = SYNTHETIC.get(language)
        if made is not None and (language not in self._by_language or rng.random() < made.share):
            return made.make(rng, bucket)
        lengths, group = self._n_lines[language], self._by_language[language]
        low, high = bucket
        first, last = bisect.bisect_left(lengths, low), bisect.bisect_right(lengths, high)
        if first < last and rng.random() < 0.5:
            return group[rng.randrange(first, last)]
        if first == len(group):
            return None
        longer = group[rng.randrange(first, len(group))]
        return longer if len(split_lines(longer.text)) <= high else _cut(longer, rng, bucket)


def _cut(source: CorpusText, rng: Random, bucket: tuple[int, int]) -> CorpusText | None:
    """Cut consecutive blocks from a text."""
    lines = split_lines(source.text)
    at = [*borders(source.text, source.language), len(lines)]
    low, high = bucket
    for _ in range(MAX_GAP_TRIES):
        start = rng.randrange(len(at) - 1)
        ends = [end for end in at[start + 1 :] if low <= end - at[start] <= high + 2]
        if ends:
            piece = "".join(lines[at[start] : rng.choice(ends)]).rstrip() + "\n"
            if len(piece) >= SHORTEST:
                return CorpusText(source.package, source.path, source.language, piece.lstrip("\n"))
    return None


def regions(text: str, language: str) -> list[tuple[int, int]]:
    """Return the parts of a text that one would select, as first line from 0 and the line after the last."""
    lines = split_lines(text)
    if language == "python":
        parsed = parse_python(text)
        if parsed is None:
            return []
        spans = [parsed.line_span(node) for node in parsed.definitions()]
        spans += [
            parsed.line_span(node)
            for node in parsed.tree.body
            if isinstance(node, ast.For | ast.With | ast.If | ast.Try)
        ]
    else:
        at = [*borders(text, language), len(lines)]
        spans = list(itertools.pairwise(at))
        if language in ("markdown", "text", "rst"):
            spans += _paragraphs(lines)
    tidy = []
    for first, last in spans:
        end = last
        while end > first and is_blank(lines[end - 1]):
            end -= 1
        if first < end and end - first <= MAX_RANGE and end - first < len(lines):
            tidy.append((first, end))
    return sorted(set(tidy))


def _paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    spans = []
    first = 0
    for index in range(len(lines) + 1):
        if index == len(lines) or is_blank(lines[index]):
            if index > first:
                spans.append((first, index))
            first = index + 1
    return spans


def range_around(before: str, after: str, rng: Random) -> tuple[int, int, str] | None:
    """Choose lines around a change; around an insertion, the lines that it goes between are among them.

    Returns:
        The first line from 1, the last line, and their new text; None when the change is too wide, or is all there is.
    """
    old, new = split_lines(before), split_lines(after)
    first, end, new_end = changed_lines(old, new)
    up, down = min(first, rng.randint(0, MAX_MARGIN)), min(len(old) - end, rng.randint(0, MAX_MARGIN))
    if first == end:
        up, down = max(up, _n_to_text(old[:first][::-1])), max(down, _n_to_text(old[end:]))
    first, end, new_end = first - up, end + down, new_end + down
    if end <= first or end - first > MAX_RANGE or end - first >= len(old) - 1 or new_end <= first:
        return None
    if all(is_blank(line) for line in old[first:end]):
        return None  # nobody selects that
    return first + 1, end, "".join(new[first:new_end])


def _n_to_text(lines: Sequence[str]) -> int:
    """Count lines up to the first that is not blank, with it."""
    return next((n for n, line in enumerate(lines, 1) if not is_blank(line)), len(lines))


def passage_of(source: CorpusText) -> Passage:
    """Return a text as operations see it."""
    return Passage(view(split_lines(source.text)), source.language, source.path.rsplit("/", 1)[-1])
