"""The arguments of plgd's commands, as editors and their plug-ins send them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeVar

import msgspec
from lsprotocol import types
from msgspec import Meta

from plgd_lsp.options import Review
from plgd_lsp.refusal import bad_arguments

__all__ = (
    "CancelArguments",
    "CommentArgument",
    "EditArguments",
    "HunkArguments",
    "Place",
    "RetryArguments",
    "Span",
    "read_arguments",
)

ArgumentsT = TypeVar("ArgumentsT", bound=msgspec.Struct)

Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A position."""

    line: Count
    character: Count


class Span(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A range."""

    start: Place
    end: Place

    def as_range(self) -> types.Range:
        """Return it as pygls has it."""
        return types.Range(
            start=types.Position(self.start.line, self.start.character),
            end=types.Position(self.end.line, self.end.character),
        )


class CommentArgument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A comment that goes with the edit.

    Attributes:
        line: where it begins.
        text: the comment with its marks.
    """

    line: Count
    text: Annotated[str, Meta(min_length=1)]


class EditArguments(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Of `plgd.edit`.

    Attributes:
        uri: of an open document.
        instruction: what to change.
        range: what may change, as whole lines; the whole document when missing.
        review: instead of the editor's setting.
        work_done_token: where to report progress.
        comment: the comment that the instruction is from.
    """

    uri: str
    instruction: str
    range: Span | None = None
    review: Review | None = None
    work_done_token: str | int | None = None
    comment: CommentArgument | None = None


class HunkArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `plgd.accept` and `plgd.reject`: a session, and its hunks; all when missing."""

    session: str
    hunks: tuple[int, ...] | None = None


class CancelArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `plgd.cancel`: a session; all when missing."""

    session: str | None = None


class RetryArguments(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Of `plgd.retry`: a session, another instruction, if any, and where to report progress."""

    session: str
    instruction: str | None = None
    work_done_token: str | int | None = None


def read_arguments(command: str, arguments: Sequence[object], kind: type[ArgumentsT]) -> ArgumentsT:
    """Decode a command's argument, an object.

    Several objects are taken for one: the key bindings of some editors can fill in only whole arguments, such as
    `{"uri": ...}` for the document and `{"start": ..., "end": ...}` for the selection, which is its `range`.

    Raises:
        JsonRpcException: it is not what the command takes; says which field.
    """
    given: dict[str, object] = {}
    for argument in arguments:
        if argument is None:
            continue
        if not isinstance(argument, Mapping):
            raise bad_arguments(f"{command} takes an object, not {type(argument).__name__}.")
        given |= {"range": argument} if set(argument) == {"start", "end"} else argument
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise bad_arguments(f"{command}: {error}.") from error
