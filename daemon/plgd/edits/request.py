"""Everything that can be refused before the model is needed, so that a mistake is answered at once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from plgd.documents.document import MAX_BYTES, Document
from plgd.documents.open import Opened
from plgd.documents.store import DocumentStore
from plgd.edits.sketch import guess_merge
from plgd.edits.sources import read_sources
from plgd.edits.view import view
from plgd.edits.write import check_writable
from plgd.errors import EmptyInstruction, InvalidParams, LinesOutOfRange, UnsavedChanges
from plgd.protocol.edits import EditMode, EditParams, LineRange
from plgd.text.lines import body, split_lines

__all__ = ("PreparedEdit", "prepare", "read_text")

_TEXT_NAME: Final = "text.txt"
# Both stand in the prompt. Far more than anybody writes, and tokenized in a moment.
_INSTRUCTION_LIMIT: Final = 65_536
_NAME_LIMIT: Final = 4096
# A sketch stands in the prompt, too, and is laid beside the text line by line.
_SKETCH_LIMIT: Final = 1024 * 1024
_MAX_PARTS: Final = 64
# Bytes of a text that a sketch is laid beside: far more than any context holds.
_GUESS_LIMIT: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PreparedEdit:
    """An edit that is ready for the model.

    Attributes:
        params: what was asked for.
        document: the text, as it was when it was asked; line numbers mean this text.
        lines: what is to be rewritten; all lines when no range was given.
        sources: other texts that the reply may resemble, as the model would see them; as they were when it was asked.
        guess: what the sketch seems to mean, as the model would see it; empty without one.
    """

    params: EditParams
    document: Document
    lines: LineRange
    sources: tuple[str, ...] = ()
    guess: str = ""

    @property
    def parts(self) -> tuple[EditParams, ...]:
        """The edits that were asked for, each as a request of its own; one edit is its own only part."""
        return _parts(self.params)

    @property
    def sketch(self) -> str:
        """The sketch as the model sees it; empty without one."""
        return view(split_lines(self.params.code_edit or ""))

    @property
    def expected(self) -> tuple[str, ...]:
        """What the reply is expected to be, as the model would see it, the likeliest first."""
        prediction = view(split_lines(self.params.prediction or ""))
        return tuple(text for text in (prediction, self.guess or self.sketch) if text)

    def part(self, params: EditParams, document: Document, lines: LineRange) -> PreparedEdit:
        """Return one of several edits of the text.

        Args:
            params: the request, for this edit alone.
            document: the text as the edits before it left it.
            lines: what is to be rewritten, as they are counted now.
        """
        return _prepared(params, document, lines, self.sources)

    @property
    def source_lines(self) -> tuple[str, ...]:
        """The lines to be rewritten, with their endings."""
        return self.document.lines[self.lines.first - 1 : self.lines.last]


def prepare(params: EditParams, documents: DocumentStore, client: Hashable = None) -> PreparedEdit:
    """Check a request and read its text, from the editor that holds it or else from the disk.

    A `base_fingerprint` is not compared here: a text that differs is an answer (`conflict`), not an error.

    Args:
        params: the request.
        documents: those that are open, and the versions.
        client: who asks; its own open documents go before those of others.

    Raises:
        InvalidParams: not exactly one of `path`, `uri` and `text`, a relative path, `apply` without a path,
            `max_tokens` below 1, an instruction, sketch, prediction or name that is too long, sources that make no
            sense, or `edits` beside one edit.
        EmptyInstruction: nothing but blanks, and no sketch.
        FileMissing, NotAFile, FileUnreadable, NotText: the text or a source cannot be had.
        LinesOutOfRange: the range is reversed or runs past the end.
        ReadOnlyTarget: `apply` to a file that cannot be written.
        UnsavedChanges: `apply` to a file of which an editor holds another text.
        DocumentNotOpen, OutOfSync: the open document cannot be used.
    """
    parts = _parts(params)
    _check_words(params, parts)
    _check_length("name", params.name or "", _NAME_LIMIT)
    if params.max_tokens is not None and params.max_tokens < 1:
        raise InvalidParams(f"`max_tokens` must be at least 1, not {params.max_tokens}.")
    document = _document(params, documents, client)
    for part in parts:
        _check_range(document, part.range)
    # An empty text has no lines; all of it is to be rewritten nevertheless.
    lines = params.range or LineRange(first=1, last=len(document.lines))
    if params.mode is EditMode.APPLY and document.path is not None:
        check_writable(document.path)
    return _prepared(params, document, lines, read_sources(params.sources, documents, client))


def _parts(params: EditParams) -> tuple[EditParams, ...]:
    if not params.edits:
        return (params,)
    return tuple(msgspec.structs.replace(params, edits=(), **msgspec.structs.asdict(part)) for part in params.edits)


def _prepared(params: EditParams, document: Document, lines: LineRange, sources: tuple[str, ...]) -> PreparedEdit:
    guess: tuple[str, ...] | None = None
    if params.code_edit and len(document.data) <= _GUESS_LIMIT:
        source = [body(line) for line in document.lines[lines.first - 1 : lines.last]]
        guess = guess_merge(source, [body(line) for line in split_lines(params.code_edit)])
    return PreparedEdit(params, document, lines, sources, view(guess) if guess else "")


def _check_words(params: EditParams, parts: tuple[EditParams, ...]) -> None:
    if params.edits:
        alone = {"instruction": params.instruction, "code_edit": params.code_edit, "prediction": params.prediction}
        given = [name for name, value in {**alone, "range": params.range}.items() if value]
        if given:
            raise InvalidParams(f"`{given[0]}` belongs into each of `edits` when they are given.")
        if len(params.edits) > _MAX_PARTS:
            raise InvalidParams(f"`edits` has {len(params.edits)} edits; {_MAX_PARTS} are the most.")
    for part in parts:
        if not part.instruction.strip() and not (part.code_edit or "").strip():
            raise EmptyInstruction
        _check_length("instruction", part.instruction, _INSTRUCTION_LIMIT)
        _check_length("sketch", part.code_edit or "", _SKETCH_LIMIT)
        _check_length("prediction", part.prediction or "", MAX_BYTES)


def _check_range(document: Document, lines: LineRange | None) -> None:
    n_lines = len(document.lines)
    if lines is not None and not 1 <= lines.first <= lines.last <= n_lines:
        raise LinesOutOfRange.of(document.shown(), lines.first, lines.last, n_lines)


def _check_length(what: str, text: str, limit: int) -> None:
    if len(text) > limit:
        raise InvalidParams(f"The {what} has {len(text):,} characters; {limit:,} are the most.")


def read_text(path: str, documents: DocumentStore, client: Hashable = None, name: str = "") -> Document:
    """Read a text: from the editor that holds it, or else from the disk.

    Args:
        path: absolute.
        documents: those that are open.
        client: who asks; its own open documents go before those of others.
        name: what to call it; by default as its editor does, or the path's last part.

    Raises:
        InvalidParams: a relative path.
        FileMissing, NotAFile, FileUnreadable, NotText, OutOfSync: the text cannot be had.
    """
    opened = _held(path, documents, client)
    return documents.read(Path(path), name) if opened is None else documents.of_open(opened, name)


def _document(params: EditParams, documents: DocumentStore, client: Hashable) -> Document:
    if sum(given is not None for given in (params.path, params.uri, params.text)) != 1:
        raise InvalidParams("Give exactly one of `path`, `uri` and `text`.")
    is_applied, name = params.mode is EditMode.APPLY, params.name or ""
    if params.text is not None:
        if is_applied:
            raise InvalidParams("`apply` needs a `path`; a `text` can only be edited with `propose`.")
        return documents.of_text(params.text, name or _TEXT_NAME)
    if params.uri is None:
        path = params.path or ""
        opened = _held(path, documents, client)
        if opened is None:
            return documents.read(Path(path), name)
    else:
        opened = documents.open.get(client, params.uri)
    document = documents.of_open(opened, name)
    return _saved(document, documents) if is_applied else document


def _held(path: str, documents: DocumentStore, client: Hashable) -> Opened | None:
    """Return what an editor holds of a file."""
    if not Path(path).is_absolute():
        raise InvalidParams(f"`path` must be absolute, not {path!r}: the daemon has another working folder.")
    return documents.open.at(client, Path(path))


def _saved(document: Document, documents: DocumentStore) -> Document:
    """Return an open document as it is on disk, where it is the same."""
    if document.path is None:
        raise InvalidParams("`apply` needs a file; an open text without one can only be edited with `propose`.")
    on_disk = documents.read(document.path, document.name)
    if on_disk.fingerprint != document.fingerprint:
        raise UnsavedChanges.at(on_disk.shown())
    return on_disk
