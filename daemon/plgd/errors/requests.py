"""Why a request was not carried out, or its text not written."""

from __future__ import annotations

from plgd.errors.base import PlgdError

__all__ = (
    "Cancelled",
    "Conflict",
    "DeadlinePassed",
    "DocumentLimit",
    "DocumentNotOpen",
    "EmptyInstruction",
    "FileMissing",
    "FileUnreadable",
    "InputError",
    "KeyReused",
    "LinesOutOfRange",
    "NotAFile",
    "NotText",
    "OutOfSync",
    "ReadOnlyTarget",
    "SessionUnknown",
    "TextTooLong",
    "UnsavedChanges",
    "WriteFailed",
)


class InputError(PlgdError):
    """The request cannot be carried out as it stands; nothing was changed."""

    code = -32010

    @classmethod
    def without_text(cls, name: str) -> InputError:
        return cls(f"{name} is empty, so there is nothing to edit. For a new text, create an empty file and name it.")


class FileMissing(InputError):
    """The path names nothing."""

    code = -32011

    @classmethod
    def at(cls, path: str, link_target: str = "") -> FileMissing:
        if link_target:
            return cls(f"{path} is a symbolic link to {link_target}, which does not exist.")
        return cls(f"{path}: no such file. Check the spelling, or create the file first.")


class NotAFile(InputError):
    """The path names a folder, a device or a socket."""

    code = -32012

    @classmethod
    def at(cls, path: str, kind: str) -> NotAFile:
        return cls(f"{path} is a {kind}, not a file. Name files.")


class FileUnreadable(InputError):
    """The file exists but the daemon may not read it."""

    code = -32013

    @classmethod
    def at(cls, path: str, reason: str) -> FileUnreadable:
        return cls(f"{path} cannot be read: {reason}.")


class NotText(InputError):
    """The file holds NUL bytes or is not UTF-8."""

    code = -32014

    @classmethod
    def binary(cls, name: str, offset: int) -> NotText:
        return cls(f"{name} is a binary file (NUL at byte {offset}); plgd edits text.")

    @classmethod
    def not_utf8(cls, name: str, offset: int) -> NotText:
        return cls(f"{name} is not UTF-8 (byte {offset}). Convert it to UTF-8 first.")


class EmptyInstruction(InputError):
    """The instruction is missing or blank."""

    code = -32016
    exit_code = 2

    def __init__(self, message: str = "The instruction is empty. Say what to change.") -> None:
        super().__init__(message)


class LinesOutOfRange(InputError):
    """The line range is reversed, or not within the text."""

    code = -32017
    exit_code = 2

    @classmethod
    def of(cls, name: str, first: int, last: int, n_lines: int) -> LinesOutOfRange:
        has = "1 line" if n_lines == 1 else f"{n_lines} lines"
        if first < 1:
            return cls(f"Lines are counted from 1, so there is no line {first}; {name} has {has}.")
        if first > last:
            return cls(f"Lines {first}:{last} end before they begin: write {last}:{first}. {name} has {has}.")
        return cls(f"Lines {first}:{last} are not all in {name}, which has {has}.")


class TextTooLong(InputError):
    """Prompt and reply do not fit into the model's context."""

    code = -32018

    @classmethod
    def of(cls, name: str, n_tokens: int, limit: int, *, about: bool = False, fewer_lines: bool = False) -> TextTooLong:
        amount = f"about {n_tokens:,}" if about else f"{n_tokens:,}"
        advice = (
            "Edit some of its lines (--lines A:B in the shell)"
            if fewer_lines
            else "The model reads the whole text, whichever lines are to change: split it"
        )
        return cls(
            f"{name} needs {amount} tokens (prompt and reply), the model's limit is {limit:,}. "
            f"{advice}, or use a model with a longer context."
        )

    @classmethod
    def in_conversation(cls, n_tokens: int, limit: int, *, about: bool = False) -> TextTooLong:
        amount = f"at least {n_tokens:,}" if about else f"{n_tokens:,}"
        return cls(f"The conversation has {amount} tokens, and the model's limit for it and the reply is {limit:,}.")


class ReadOnlyTarget(InputError):
    """The edit is to be written, but the file or its folder cannot be written to."""

    code = -32019

    @classmethod
    def at(cls, path: str) -> ReadOnlyTarget:
        return cls(f"{path} is read-only; make it writable, or use --diff to see the edit without writing it.")


class UnsavedChanges(InputError):
    """The edit is to be written, but an editor holds another text than the file."""

    code = -32020

    @classmethod
    def at(cls, path: str) -> UnsavedChanges:
        return cls(
            f"An editor holds another text of {path} than the file has. Save it there or, if the file is newer, load "
            "it again there; or edit it there."
        )


class DocumentNotOpen(InputError):
    """No client has opened a document under this name."""

    code = -32021

    @classmethod
    def named(cls, uri: str) -> DocumentNotOpen:
        return cls(f"No document {uri!r} is open; open it with document/open first.")


class OutOfSync(InputError):
    """A change does not fit the document that it is for; the client opens the document again."""

    code = -32022

    @classmethod
    def of_version(cls, uri: str, held: int, given: int) -> OutOfSync:
        return cls(f"Version {given} of {uri} does not follow version {held}; open the document again.")

    @classmethod
    def of_range(cls, uri: str, reason: str) -> OutOfSync:
        return cls(f"A change does not fit the text of {uri} ({reason}); open the document again.")

    @classmethod
    def of_text(cls, uri: str) -> OutOfSync:
        return cls(f"{uri} is not the text with that fingerprint after the change; open the document again.")

    @classmethod
    def before(cls, uri: str) -> OutOfSync:
        return cls(f"A change did not fit {uri}, so its text is not known; open the document again.")


class DocumentLimit(InputError):
    """More documents, or a longer one, than the daemon holds."""

    code = -32023

    @classmethod
    def of_number(cls, limit: int) -> DocumentLimit:
        return cls(f"{limit:,} documents are open already; close one first.")

    @classmethod
    def of_bytes(cls, uri: str, limit: int) -> DocumentLimit:
        return cls(f"{uri} is larger than {limit // 2**20} MB.")


class SessionUnknown(InputError):
    """The daemon keeps no session of this id."""

    code = -32024

    @classmethod
    def named(cls, session: str) -> SessionUnknown:
        return cls(f"There is no session {session!r}: it is too old, or the daemon was restarted. Run the edit again.")


class KeyReused(InputError):
    """An idempotency key came with another request than the first time."""

    code = -32025

    @classmethod
    def of(cls, key: str) -> KeyReused:
        return cls(f"The idempotency key {key!r} belongs to another request of the last hour; choose another key.")

    @classmethod
    def by_another_version(cls, key: str) -> KeyReused:
        return cls(
            f"The request with the idempotency key {key!r} was carried out by another version of plgd, whose reply "
            "cannot be read. Look at the file before you ask again under another key."
        )


class Conflict(PlgdError):
    """The text changed while the model worked, inside the lines that the edit changes."""

    code = -32030
    exit_code = 3

    @classmethod
    def on(cls, path: str, what: str) -> Conflict:
        return cls(f"{path} changed while the model worked ({what}); it was left as it is. Run the edit again.")

    @classmethod
    def after_crash(cls, path: str) -> Conflict:
        return cls(
            f"{path} has another text than this request's first run found or was about to write when the daemon died. "
            "Look at the file, and run the edit again under another key."
        )


class WriteFailed(PlgdError):
    """The new text could not be put on disk; the old file is whole."""

    code = -32031

    @classmethod
    def at(cls, path: str, reason: str) -> WriteFailed:
        return cls(f"{path} was not written and is unchanged: {reason}.")

    @classmethod
    def not_undone(cls, path: str, reason: str) -> WriteFailed:
        return cls(
            f"The edit of several files stopped half way ({reason}), and {path} could not be given its old text back; "
            "the next start of the daemon tries again. See `plgd logs`."
        )

    @classmethod
    def page(cls, path: str, reason: str) -> WriteFailed:
        return cls(f"The page {path} cannot be written: {reason}.")


class DeadlinePassed(PlgdError):
    """The request was not done by the time that its client gave it."""

    code = -32084

    @classmethod
    def of(cls, deadline_ms: float) -> DeadlinePassed:
        return cls(
            f"The request was not done within its {deadline_ms:,.0f} ms, so it was ended; nothing was changed. "
            "Give it a later deadline, or ask when the daemon has less to do."
        )


class Cancelled(PlgdError):
    """The request was cancelled by its client."""

    code = -32800  # LSP's RequestCancelled
    exit_code = 130

    def __init__(self, message: str = "Cancelled; nothing was changed.") -> None:
        super().__init__(message)
