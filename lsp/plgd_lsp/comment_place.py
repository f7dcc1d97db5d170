"""The comment that an instruction was written in, and the text without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plgd.text.lines import split_lines
from plgd_lsp.line_map import LineMap

__all__ = ("CommentPlace", "without_comment")


@dataclass(frozen=True, slots=True)
class CommentPlace:
    """Where a comment is.

    Attributes:
        line: where it begins, counted from 0.
        text: the comment from its first mark to its last.
    """

    line: int
    text: str


def without_comment(base: Sequence[str], new_text: str, comment: CommentPlace) -> str:
    """Return a new text without the comment; as it is when the comment is not in it any more.

    A line that had nothing but the comment goes as a whole.

    Args:
        base: the lines that the comment's place is in.
        new_text: what the model made of them.
        comment: where it is in the base.
    """
    new = split_lines(new_text)
    moved = LineMap(base, new)
    wanted = len("".join(new[: moved.start(comment.line)]))
    places = []
    at = new_text.find(comment.text)
    while at >= 0:
        places.append(at)
        at = new_text.find(comment.text, at + 1)
    if not places:
        return new_text
    start = min(places, key=lambda place: abs(place - wanted))
    end = start + len(comment.text)
    before = start
    while before and new_text[before - 1] in " \t":
        before -= 1
    if new_text[end : end + 1] not in ("", "\r", "\n"):
        return new_text[:start] + new_text[end:]
    if not before or new_text[before - 1] in "\r\n":
        end += 2 if new_text[end : end + 2] == "\r\n" else 1
    return new_text[:before] + new_text[end:]
