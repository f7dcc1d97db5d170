"""What an editor can do, read once from the capabilities that it sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from lsprotocol import types

__all__ = ("Abilities",)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an editor understands beyond the least that every editor does.

    Attributes:
        versioned_edits: edits that name the version of the document that they are for.
        annotations: edits that say what they are, and may ask the user first.
        progress: progress that the server begins.
        action_literals: code actions; without it, commands.
        llm_tag: code actions marked as made by a language model.
        proposals: plgd's own notifications, so that messages need not say the same again.
    """

    versioned_edits: bool = False
    annotations: bool = False
    progress: bool = False
    action_literals: bool = False
    llm_tag: bool = False
    proposals: bool = False

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities) -> Self:
        """Read them."""
        workspace = capabilities.workspace or types.WorkspaceClientCapabilities()
        edit = workspace.workspace_edit or types.WorkspaceEditClientCapabilities()
        documents = capabilities.text_document or types.TextDocumentClientCapabilities()
        action = documents.code_action or types.CodeActionClientCapabilities()
        window = capabilities.window or types.WindowClientCapabilities()
        tags = action.tag_support.value_set if action.tag_support is not None else ()
        own = capabilities.experimental.get("plgd") if isinstance(capabilities.experimental, Mapping) else None
        return cls(
            # Neovim says only that it takes resource operations; those exist in versioned edits alone.
            versioned_edits=bool(edit.document_changes or edit.resource_operations),
            annotations=edit.change_annotation_support is not None,
            progress=bool(window.work_done_progress),
            action_literals=action.code_action_literal_support is not None,
            llm_tag=types.CodeActionTag.LlmGenerated in tags,
            proposals=isinstance(own, Mapping) and own.get("proposals") is True,
        )
