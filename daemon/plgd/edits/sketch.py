"""Sketches: new text in which a marker stands for the lines that stay.

Whoever writes a sketch leaves out what does not change: `# ... existing code ...` stands for it, in the comment signs
of the language. The model is shown the sketch and writes the text; what is done here is a guess at that text, for the
drafts alone. A wrong guess costs speed and nothing else.

The guess holds on to lines that sketch and source share. Of all ways to pair them in order, the one whose lines weigh
most is taken; a way that leaps within a stretch of the sketch without a marker pays for it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from plgd.edits.pairing import Pair, pair_lines
from plgd.edits.placeholders import is_marker

__all__ = ("guess_merge",)

# A line that is as similar to the source's as this has been changed and not inserted.
_SIMILAR: Final = 0.75
# Of the lines beside the first and last that both share; more are compared with nothing.
_COMPARED: Final = 8
# Lines of the source that a stretch without any shared line is compared with.
_SEARCHED: Final = 400
# Lines by which one may have moved among them.
_SHIFT: Final = 2

_INDENT: Final = re.compile(r"[ \t]*")


@dataclass(slots=True)
class _Stretch:
    """Lines of a sketch without a marker between them.

    Attributes:
        lines: without endings.
        before: the marker before them, if there is one.
        after: the marker after them, if there is one.
        pairs: those that the source has; else the one that is most like one of the source's, if any is.
    """

    lines: list[str]
    before: str | None = None
    after: str | None = None
    pairs: list[Pair] = field(default_factory=list)


def guess_merge(source: Sequence[str], sketch: Sequence[str]) -> tuple[str, ...] | None:
    """Guess the text that a sketch means.

    Args:
        source: lines of the text that the sketch is of, without their endings.
        sketch: its lines, without their endings.

    Returns:
        The lines; `None` when the two share none that says where the sketch belongs.
    """
    parts = [(kept, list(group)) for kept, group in groupby(sketch, is_marker)]
    stretches = [
        _Stretch(
            lines,
            before=parts[place - 1][1][-1] if place > 0 else None,
            after=parts[place + 1][1][0] if place + 1 < len(parts) else None,
        )
        for place, (kept, lines) in enumerate(parts)
        if not kept
    ]
    for pair in pair_lines(source, [stretch.lines for stretch in stretches]):
        stretches[pair.stretch].pairs.append(pair)
    ends_open = bool(parts) and parts[-1][0]
    merged: list[str] = []
    at = 0
    for number, stretch in enumerate(stretches):
        if not stretch.pairs and (changed := _find_changed(source, at, stretch.lines)) is not None:
            stretch.pairs.append(Pair(number, *changed))
        if stretch.pairs:
            following = next((each.pairs[0].source for each in stretches[number + 1 :] if each.pairs), len(source))
            at = _merge(source, at, stretch, merged, following)
            continue
        # Lines that are new from the first to the last may go anywhere between those beside the two markers.
        if number == len(stretches) - 1 and not ends_open:
            merged += source[at:]
            at = len(source)
        merged += stretch.lines
    return (*merged, *source[at:]) if any(stretch.pairs for stretch in stretches) else None


def _merge(source: Sequence[str], at: int, stretch: _Stretch, merged: list[str], following: int) -> int:
    """Append what the source has before a stretch, then the stretch; return where the source goes on.

    A marker stands for something: where nothing was left for it, lines that are like others were added beside them.

    Args:
        source: lines of the text.
        at: where the source goes on before the stretch.
        stretch: has pairs.
        merged: is appended to.
        following: the line of the source that the next stretch is paired with, or their number.
    """
    first, last = stretch.pairs[0], stretch.pairs[-1]
    head = stretch.lines[: first.line]
    n_changed = _n_similar(source[at : first.source][::-1], head[::-1])
    if stretch.before is not None and _is_blank(source[at : first.source - n_changed]):
        n_changed = 0
    n_changed += min(_n_blank(head), _n_blank(source[at : first.source - n_changed][::-1]))
    merged += source[at : first.source - n_changed]
    shared = {pair.line: pair for pair in stretch.pairs}
    near = first
    for number, line in enumerate(stretch.lines):
        near = shared.get(number, near)
        if number == near.line and line.strip() == source[near.source].strip():
            merged.append(source[near.source])
        else:
            merged.append(_indented(line, like=source[near.source], written=stretch.lines[near.line]))
    rest, tail = source[last.source + 1 : following], stretch.lines[last.line + 1 :]
    n_of_block = 0
    if _goes_deeper(tail[:1], stretch.lines[last.line]) and not _goes_deeper([stretch.after], stretch.lines[last.line]):
        n_of_block = _n_of_block(rest, source[last.source])
    n_over = max(_n_similar(rest, tail), n_of_block)
    if stretch.after is not None and _is_blank(rest[n_over:]):
        n_over = n_of_block
    n_over += min(_n_blank(tail[::-1]), _n_blank(rest[n_over:]))
    return last.source + 1 + n_over


def _n_of_block(rest: Sequence[str], head: str) -> int:
    """Count the lines below a line that stand deeper: the block that it begins, which the sketch writes anew."""
    n_inside = 0
    for number, line in enumerate(rest):
        if line.strip() and not _goes_deeper([line], head):
            break
        n_inside = number + 1 if line.strip() else n_inside
    return n_inside


def _goes_deeper(lines: Sequence[str | None], head: str) -> bool:
    return any(line and line.strip() and len(_indent(line)) > len(_indent(head)) for line in lines)


def _n_blank(lines: Sequence[str]) -> int:
    """Count the blank lines at the beginning."""
    return next((number for number, line in enumerate(lines) if line.strip()), len(lines))


def _is_blank(lines: Sequence[str]) -> bool:
    return not any(line.strip() for line in lines)


def _find_changed(source: Sequence[str], at: int, lines: Sequence[str]) -> tuple[int, int] | None:
    """Find the line of a stretch that is most like one of the source's, as indexes of both; `None` without any."""
    best: tuple[float, int, int] | None = None
    matcher = difflib.SequenceMatcher(autojunk=False)
    for number, line in enumerate(lines[:_COMPARED]):
        matcher.set_seq2(line.strip())
        for place, old in enumerate(source[at : at + _SEARCHED], at):
            matcher.set_seq1(old.strip())
            least = best[0] if best is not None else _SIMILAR
            if line.strip() and matcher.quick_ratio() > least and matcher.ratio() > least:
                best = (matcher.ratio(), number, place)
    return best[1:] if best is not None else None


def _n_similar(source: Sequence[str], lines: Sequence[str]) -> int:
    """Count the source's lines that the sketch's lines beside them stand for, the nearest first."""
    n_similar = 0
    for number, old in enumerate(source[:_COMPARED]):
        beside = lines[max(0, number - _SHIFT) : number + _SHIFT + 1]
        is_blank = number == n_similar < len(lines) and not old.strip() and not lines[number].strip()
        if is_blank or any(_is_similar(old, new) for new in beside):
            n_similar = number + 1
    return n_similar


def _is_similar(old: str, new: str) -> bool:
    old, new = old.strip(), new.strip()
    return bool(old) and difflib.SequenceMatcher(None, old, new, autojunk=False).ratio() >= _SIMILAR


def _indented(line: str, *, like: str, written: str) -> str:
    """Move a line as far as a line beside it was moved, which the sketch wrote with another indentation."""
    wanted, given = _indent(like), _indent(written)
    if wanted.startswith(given) and line.strip():
        return wanted[len(given) :] + line
    return line.removeprefix(given.removesuffix(wanted)) if given.endswith(wanted) else line


def _indent(line: str) -> str:
    match = _INDENT.match(line)
    return match[0] if match else ""
