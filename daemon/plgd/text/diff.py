"""Byte-exact difference of two texts by lines, as hunks.

Every character counts, blanks and line endings included. `difflib` finds the matching lines; before it runs, equal
heads and tails are set aside and large middles are cut at lines that occur once on both sides (the anchors of
Bram Cohen's patience diff), because `difflib` alone takes quadratic time on files of many lines.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

__all__ = ("Hunk", "apply_hunks", "diff_lines")

# Lines on one side times lines on the other that difflib may compare in one piece: milliseconds even when all repeat.
_DIFFLIB_LIMIT: Final = 40_000
# A line may serve as an anchor when it occurs at most so often: unique lines first, the rest when there are none.
_RARE: Final = (1, 16)


@dataclass(frozen=True, slots=True)
class Hunk:
    """One contiguous change of a diff.

    Attributes:
        old_start: index of the first replaced line, counted from 0; with no old lines, where the new ones go.
        old_lines: the lines that go, with their endings.
        new_start: index of the first new line in the new text.
        new_lines: the lines that come, with their endings.
    """

    old_start: int
    old_lines: tuple[str, ...]
    new_start: int
    new_lines: tuple[str, ...]

    @property
    def old_end(self) -> int:
        """Index after the last replaced line."""
        return self.old_start + len(self.old_lines)

    @property
    def new_end(self) -> int:
        """Index after the last new line."""
        return self.new_start + len(self.new_lines)


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of the old lines beside a part of the new ones, half-open."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def diff_lines(old: Sequence[str], new: Sequence[str]) -> tuple[Hunk, ...]:
    """Return the hunks that turn the old lines into the new ones, in order; none when they are equal."""
    hunks: list[Hunk] = []
    old_at = new_at = 0
    for match in (*_matches(old, new), _Span(len(old), len(old), len(new), len(new))):
        if (match.old_start, match.new_start) != (old_at, new_at):
            old_lines = tuple(old[old_at : match.old_start])
            hunks.append(Hunk(old_at, old_lines, new_at, tuple(new[new_at : match.new_start])))
        old_at, new_at = match.old_end, match.new_end
    return tuple(hunks)


def apply_hunks(old: Sequence[str], hunks: Sequence[Hunk]) -> tuple[str, ...]:
    """Return the new lines.

    Raises:
        ValueError: a hunk's old lines are not where it says, or hunks overlap.
    """
    new: list[str] = []
    at = 0
    for hunk in hunks:
        if hunk.old_start < at or tuple(old[hunk.old_start : hunk.old_end]) != hunk.old_lines:
            raise ValueError(f"the hunk at line {hunk.old_start + 1} does not fit the text")
        new += old[at : hunk.old_start]
        new += hunk.new_lines
        at = hunk.old_end
    new += old[at:]
    return tuple(new)


def _matches(old: Sequence[str], new: Sequence[str]) -> Iterator[_Span]:
    """Yield runs of equal lines in order."""
    pending = [_Span(0, len(old), 0, len(new))]
    while pending:
        whole = pending.pop()
        middle = _trim(old, new, whole)
        if middle.old_start > whole.old_start:
            yield _Span(whole.old_start, middle.old_start, whole.new_start, middle.new_start)
        tail = _Span(middle.old_end, whole.old_end, middle.new_end, whole.new_end)
        if tail.old_end > tail.old_start:
            pending.append(tail)  # trimmed to nothing but itself when its turn comes
        n_old, n_new = middle.old_end - middle.old_start, middle.new_end - middle.new_start
        if not n_old or not n_new:
            continue
        if n_old * n_new <= _DIFFLIB_LIMIT:
            yield from _difflib_matches(old, new, middle)
        elif cuts := _anchors(old, new, middle):
            pending += reversed(_cut(middle, cuts))
        # else: a large middle that shares no rare line is one change


def _trim(old: Sequence[str], new: Sequence[str], span: _Span) -> _Span:
    """Set aside the lines that both sides begin and end with."""
    old_start, old_end, new_start, new_end = span.old_start, span.old_end, span.new_start, span.new_end
    while old_start < old_end and new_start < new_end and old[old_start] == new[new_start]:
        old_start, new_start = old_start + 1, new_start + 1
    while old_start < old_end and new_start < new_end and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    return _Span(old_start, old_end, new_start, new_end)


def _difflib_matches(old: Sequence[str], new: Sequence[str], span: _Span) -> Iterator[_Span]:
    old_part, new_part = old[span.old_start : span.old_end], new[span.new_start : span.new_end]
    matcher = difflib.SequenceMatcher(None, old_part, new_part, autojunk=False)
    for block in matcher.get_matching_blocks():
        if block.size:
            old_at, new_at = span.old_start + block.a, span.new_start + block.b
            yield _Span(old_at, old_at + block.size, new_at, new_at + block.size)


def _anchors(old: Sequence[str], new: Sequence[str], span: _Span) -> list[tuple[int, int]]:
    """Return places of rare lines, (old index, new index), increasing on both sides; unique lines if there are any.

    Repeated lines are paired by their rank, where both sides have them equally often.
    """
    old_places, new_places = _places(old, span.old_start, span.old_end), _places(new, span.new_start, span.new_end)
    for most in _RARE:
        pairs = sorted(
            pair
            for line, places in old_places.items()
            if len(places) <= most and len(places) == len(new_places.get(line, ()))
            for pair in zip(places, new_places[line], strict=True)
        )
        if pairs:
            return _longest_increasing(pairs)
    return []


def _places(lines: Sequence[str], start: int, end: int) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for at in range(start, end):
        places.setdefault(lines[at], []).append(at)
    return places


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of pairs, ordered by their first number, whose second numbers increase too."""
    # Patience sorting: `tops[i]` is the pair that ends the best series of length i + 1.
    tops: list[int] = []
    tops_new: list[int] = []
    before: list[int] = []
    for index, (_, new_index) in enumerate(pairs):
        pile = bisect_left(tops_new, new_index)
        before.append(tops[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(index)
            tops_new.append(new_index)
        else:
            tops[pile], tops_new[pile] = index, new_index
    series: list[tuple[int, int]] = []
    index = tops[-1] if tops else -1
    while index >= 0:
        series.append(pairs[index])
        index = before[index]
    return series[::-1]


def _cut(span: _Span, anchors: Sequence[tuple[int, int]]) -> list[_Span]:
    """Cut a span before each anchor, so that every part but the first begins with equal lines."""
    bounds = [(span.old_start, span.new_start), *anchors, (span.old_end, span.new_end)]
    return [
        _Span(old_start, old_end, new_start, new_end)
        for (old_start, new_start), (old_end, new_end) in pairwise(bounds)
        if (old_start, new_start) != (old_end, new_end)
    ]
