"""Instructions that stand in a comment: `# plgd: make this a dataclass`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plgd.text.lines import body
from plgd_lsp.blocks import block_after
from plgd_lsp.comment_place import CommentPlace
from plgd_lsp.comment_syntax import syntax_of
from plgd_lsp.places import Lines

__all__ = ("Instruction", "find_instructions")


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction and what it is about.

    Attributes:
        instruction: in the user's words.
        comment: where it stands.
        lines: what is to be rewritten.
    """

    instruction: str
    comment: CommentPlace
    lines: Lines


def find_instructions(lines: Sequence[str], selected: Lines, language_id: str, marker: str) -> Iterator[Instruction]:
    """Find the instructions in the selected lines and in the line above them.

    An instruction is about the lines that were selected with it; alone in its line, about the block behind it; behind
    something else, about its own line.

    Args:
        lines: the text's.
        selected: where to look.
        language_id: the editor's word for the language.
        marker: what the comment begins with.
    """
    first = max(0, selected.start - 1)
    text = "".join(lines[first : selected.end])
    # A comment in a string is one as well: nobody writes the marker there by accident, and nothing is done unasked.
    starts = [0]
    for content in lines[first : selected.end]:
        starts.append(starts[-1] + len(content))
    for comment in _comments(text, language_id, marker):
        offset = max(index for index, start in enumerate(starts[:-1] or [0]) if start <= comment.start)
        line = first + offset
        if line < selected.start and comment.end <= starts[1] and not _is_alone(text, comment):
            continue  # it is about the line above
        about = _about(lines, selected, line, text, comment)
        if about is not None:
            yield Instruction(comment.instruction, CommentPlace(line, text[comment.start : comment.end]), about)


@dataclass(frozen=True, slots=True)
class _Comment:
    instruction: str
    start: int
    end: int


def _comments(text: str, language_id: str, marker: str) -> Iterator[_Comment]:
    syntax = syntax_of(language_id)
    name = re.escape(marker)
    kinds = [rf"{re.escape(opening)}\s*{name}(?P<said>.*?){re.escape(closing)}" for opening, closing in syntax.block]
    # A mark may be repeated, as in `///` and `;;`.
    kinds += [
        rf"{re.escape(mark.strip())}{re.escape(mark.strip()[-1])}*[ \t]*{name}(?P<said>[^\r\n]*)"
        for mark in sorted(syntax.line, key=len, reverse=True)
    ]
    taken: list[tuple[int, int]] = []
    found = []
    for kind in kinds:
        for match in re.finditer(kind, text, re.DOTALL if "said>.*?" in kind else 0):
            start, end = match.span()
            if any(start < other_end and end > other_start for other_start, other_end in taken):
                continue
            taken.append((start, end))
            instruction = " ".join(match["said"].split())
            if instruction:
                found.append(_Comment(instruction, start, end))
    return iter(sorted(found, key=lambda comment: comment.start))


def _about(lines: Sequence[str], selected: Lines, line: int, text: str, comment: _Comment) -> Lines | None:
    last = line + len(re.findall(r"\r\n|\r|\n", text[comment.start : comment.end]))
    is_alone = _is_alone(text, comment)
    others = [
        number
        for number in range(selected.start, selected.end)
        if not line <= number <= last and body(lines[number]).strip()
    ]
    if others:
        return selected
    return block_after(lines, last + 1) if is_alone else Lines(line, last + 1)


def _is_alone(text: str, comment: _Comment) -> bool:
    before = re.split(r"[\r\n]", text[: comment.start])[-1]
    after = re.split(r"[\r\n]", text[comment.end :])[0]
    return not before.strip() and not after.strip()
