"""What can be refused of a request for several files before the model is needed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from plgd.documents.document import MAX_BYTES
from plgd.documents.store import DocumentStore
from plgd.edits.request import PreparedEdit, prepare
from plgd.errors import EmptyInstruction, InvalidParams
from plgd.protocol.edit_many import EditManyParams
from plgd.protocol.edits import EditMode, EditParams

__all__ = ("prepare_many",)

_MAX_FILES: Final = 64


def prepare_many(params: EditManyParams, documents: DocumentStore, client: Hashable = None) -> tuple[PreparedEdit, ...]:
    """Check a request and read its texts.

    Args:
        params: the request.
        documents: those that are open, and the versions.
        client: who asks; its own open documents go before those of others.

    Raises:
        InvalidParams: no files or too many, the same file twice, together too large, or edits that do not go together.
        PlgdError: what `prepare` says to one of them.
    """
    if not 1 <= len(params.files) <= _MAX_FILES:
        raise InvalidParams(f"`files` has {len(params.files)} edits; there are 1 to {_MAX_FILES}.")
    for place, each in enumerate(params.files):
        if each.idempotency_key is not None:
            raise InvalidParams(f"`files[{place}].idempotency_key` belongs to the request as a whole.")
    if params.all_or_nothing:
        _check_together(params.files)
    prepared: list[PreparedEdit] = []
    n_bytes = 0
    for place, each in enumerate(params.files):
        edit = _prepare(place, each, documents, client)
        n_bytes += len(edit.document.data)
        if n_bytes > MAX_BYTES:
            raise InvalidParams(f"With `files[{place}]`, the texts are larger than {MAX_BYTES // 2**20} MB together.")
        for other, before in enumerate(prepared):
            if edit.document.path is not None and edit.document.path == before.document.path:
                raise InvalidParams(
                    f"`files[{other}]` and `files[{place}]` are the same file; put its edits into one's `edits`."
                )
        prepared.append(edit)
    return tuple(prepared)


def _check_together(files: tuple[EditParams, ...]) -> None:
    first = files[0]
    for place, each in enumerate(files):
        if each.mode is not EditMode.APPLY:
            raise InvalidParams(
                f"With `all_or_nothing`, every mode is `apply`; `files[{place}]` is `{each.mode.value}`."
            )
        if each.model != first.model or each.dry_run != first.dry_run:
            raise InvalidParams(
                f"With `all_or_nothing`, `model` and `dry_run` are the same for all; `files[{place}]` has others."
            )


def _prepare(place: int, params: EditParams, documents: DocumentStore, client: Hashable) -> PreparedEdit:
    try:
        return prepare(params, documents, client)
    except (InvalidParams, EmptyInstruction) as error:
        # Others name the file.
        raise type(error)(f"`files[{place}]`: {error.message}") from error
