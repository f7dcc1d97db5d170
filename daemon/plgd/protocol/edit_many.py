"""Edits of several files in one request.

Fields are only ever added, with a default.
"""

from __future__ import annotations

from collections.abc import Sequence

from plgd.errors import PlgdError
from plgd.protocol.base import Message, Reply
from plgd.protocol.edits import EditParams, EditResult, EditStatus, IdempotencyKey

__all__ = ("EditManyParams", "EditManyResult", "FileError", "FileResult", "failed_file", "make_many_result")

_DONE = frozenset((EditStatus.PROPOSED, EditStatus.APPLIED, EditStatus.NO_CHANGE))


class EditManyParams(Message, frozen=True):
    """Edits of several texts, made one after the other.

    Attributes:
        files: one edit each, as in `edit`, of different files or texts; 64 at most. A mistake in one of them refuses
            the request before anything is done.
        all_or_nothing: write every file or none, also if the daemon dies in the middle. All are `apply`, and of one
            model. The first that comes to nothing stops the request. They have the priority of the most urgent file
            and the earliest deadline.
        idempotency_key: as in `edit`, for the request as a whole.
    """

    files: tuple[EditParams, ...]
    all_or_nothing: bool = False
    idempotency_key: IdempotencyKey | None = None


class FileError(Reply, frozen=True):
    """Why one of several files could not be edited, where `edit` would have answered with this error.

    Attributes:
        path: the file, as it was asked for, or the text's name.
        code: as in the errors of the protocol.
        message: one sentence for a person.
    """

    path: str
    code: int
    message: str


class FileResult(Reply, frozen=True):
    """What became of one of several files: exactly one of `result` and `error` is there."""

    result: EditResult | None = None
    error: FileError | None = None


class EditManyResult(Reply, frozen=True):
    """The answer to `edit/many`.

    Attributes:
        session: the request's id; each file's edit has its own.
        complete: whether every file is proposed, applied or needs no change. Otherwise, with `all_or_nothing`, no file
            was written: edits that were made are `proposed`, those not begun `cancelled`.
        files: in the order of the request.
    """

    session: str
    complete: bool
    files: tuple[FileResult, ...]


def make_many_result(session: str, files: Sequence[FileResult]) -> EditManyResult:
    """Return the answer that these files make."""
    complete = all(each.result is not None and each.result.status in _DONE for each in files)
    return EditManyResult(session=session, complete=complete, files=tuple(files))


def failed_file(path: str, error: PlgdError) -> FileResult:
    """Return the result of a file that could not be edited."""
    return FileResult(error=FileError(path=path, code=error.code, message=error.message))
