"""A session afterwards: what became of an edit, what is on disk now, and its hunks accepted or rejected one by one."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from msgspec import Meta

from plgd.protocol.base import Message, Reply
from plgd.protocol.conflicts import ConflictLines
from plgd.protocol.edits import EditStatus, Stage

__all__ = (
    "AcceptParams",
    "AcceptResult",
    "FileState",
    "HunkState",
    "RejectParams",
    "ReviewedHunk",
    "SessionParams",
    "SessionResult",
)

SessionId = Annotated[str, Meta(max_length=64)]


class HunkState(Enum):
    """What was decided about a hunk."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class FileState(Enum):
    """What the file of a session holds at this moment, by its content."""

    BASE = "base"
    ACCEPTED = "accepted"
    OTHER = "other"
    MISSING = "missing"
    NONE = "none"


class ReviewedHunk(Reply, frozen=True):
    """A hunk of the session's result, and what was decided about it.

    Attributes:
        id: as in the result, and all line numbers too: they count the text that was edited and the whole new text.
    """

    id: int
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    state: HunkState


class SessionParams(Message, frozen=True):
    """Which session: an id that a result or `status` gave."""

    session: SessionId


class SessionResult(Reply, frozen=True):
    """A session as it is now.

    Attributes:
        stage: where the edit is, while it waits or runs; null afterwards.
        percent: of that stage.
        status: how the edit ended; null before. A proposal is `applied` when all its hunks are decided and at least
            one was accepted.
        path: the real file; empty for a text.
        base_fingerprint: of the text that was edited.
        new_fingerprint: of the text with all hunks.
        hunks: the changes, with what was decided about each; none while the edit runs.
        file: what is on disk now: `base`, the text that was edited; `accepted`, the text with the hunks that were
            accepted; `other`; `missing`, when the file is gone or cannot be read; `none`, for a text without a file.
        file_fingerprint: of what is on disk now, empty when there is nothing.
    """

    session: str
    stage: Stage | None
    percent: float
    status: EditStatus | None
    path: str
    base_fingerprint: str
    new_fingerprint: str
    hunks: tuple[ReviewedHunk, ...]
    file: FileState
    file_fingerprint: str


class AcceptParams(Message, frozen=True):
    """Which hunks of a proposal to write to its file.

    Hunks that were accepted before stay so; repeating a request changes nothing. A session is kept for an hour after
    its last use, unless 64 newer ones, or 64 MB of them, take its place, and until the daemon exits.

    Attributes:
        session: a result's id.
        hunks: their ids; all that are open when missing.
        dry_run: make every check and write nothing; the hunks stay open.
    """

    session: SessionId
    hunks: tuple[int, ...] | None = None
    dry_run: bool = False


class AcceptResult(Reply, frozen=True):
    """What became of the accepted hunks.

    Attributes:
        status: `applied`, the file has them now; `proposed`, nothing was written: a dry run, or a text without a file,
            whose new text is in `new_text`; `no_change`, there was nothing left to write; `conflict`, the file changed
            in the same lines and was left as it is, and the hunks stay open.
        path: the real file; empty for a text.
        base_fingerprint: of the text that was replaced, or would be.
        new_fingerprint: of `new_text`.
        version: counts the texts seen under this path, from 1.
        new_text: what the file holds now, or would hold.
        diff: from the text that was replaced to `new_text`, byte-exact.
        hunks: all hunks of the session with their states.
        warnings: sentences for a person.
        conflict: with `conflict`, the lines that both changed, where there are such.
    """

    session: str
    status: EditStatus
    path: str
    base_fingerprint: str
    new_fingerprint: str
    version: int
    new_text: str
    diff: str
    hunks: tuple[ReviewedHunk, ...]
    warnings: tuple[str, ...]
    conflict: ConflictLines | None = None


class RejectParams(Message, frozen=True):
    """Which hunks of a proposal not to write. What was accepted before is on disk and cannot be rejected.

    Attributes:
        session: a result's id.
        hunks: their ids; all that are open when missing.
    """

    session: SessionId
    hunks: tuple[int, ...] | None = None
