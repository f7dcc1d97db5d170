"""Hunks as the one edit that an editor applies, and undoes, as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lsprotocol import types

from plgd.text.positions import Encoding
from plgd_lsp.abilities import Abilities
from plgd_lsp.mirror import MirroredDocument
from plgd_lsp.places import range_of
from plgd_lsp.proposal import PlacedHunk

__all__ = ("make_edit",)

_ANNOTATION: Final = "plgd"


def make_edit(
    document: MirroredDocument,
    hunks: Sequence[PlacedHunk],
    *,
    encoding: Encoding,
    abilities: Abilities,
    label: str,
    ask_first: bool,
) -> types.WorkspaceEdit:
    """Make the edit that puts hunks into a document.

    Args:
        document: as it is now; editors that check versions refuse the edit for any other text.
        hunks: placed in this text.
        encoding: what positions count.
        abilities: what the editor can do.
        label: what the edit is, for annotations.
        ask_first: let the editor ask its user, where it can.
    """
    lines = document.lines
    edits = [
        types.TextEdit(range=range_of(hunk.lines, lines, encoding), new_text="".join(hunk.new_lines)) for hunk in hunks
    ]
    if not abilities.versioned_edits:
        return types.WorkspaceEdit(changes={document.uri: edits})
    versioned = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
    if not abilities.annotations:
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text_document=versioned, edits=edits)])
    annotated = [
        types.AnnotatedTextEdit(range=edit.range, new_text=edit.new_text, annotation_id=_ANNOTATION) for edit in edits
    ]
    return types.WorkspaceEdit(
        document_changes=[types.TextDocumentEdit(text_document=versioned, edits=annotated)],
        change_annotations={_ANNOTATION: types.ChangeAnnotation(label=label, needs_confirmation=ask_first)},
    )
