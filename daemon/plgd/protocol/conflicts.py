"""Where an edit and somebody else changed the same lines."""

from __future__ import annotations

from plgd.protocol.base import Reply

__all__ = ("ConflictLines",)


class ConflictLines(Reply, frozen=True):
    """The first place where the edit and the file, as it is now, both differ from the text that was edited.

    Attributes:
        first: the place's first line in the text that was edited, counted from 1.
        last: its last line there; the line before `first` where both only insert.
        file_first: its first line in the file as it is now.
        base: the lines that were edited, with their endings.
        file: the lines of the file now.
        edit: the lines that the edit would put there.
    """

    first: int
    last: int
    file_first: int
    base: str
    file: str
    edit: str
