"""Every operation, with its weight."""

from __future__ import annotations

from typing import Final

from training.edit import Operation
from training.operations import (
    any_file,
    config_data,
    json_entries,
    json_members,
    layout,
    markdown,
    markdown_lists,
    markdown_marks,
    markup,
    nothing,
    prose,
    prose_words,
    python_calls,
    python_collections,
    python_definitions,
    python_deletes,
    python_faults,
    python_idioms,
    python_names,
    python_order,
    python_rewrites,
    python_signatures,
    python_statements,
    python_values,
    python_wraps,
    script,
    script_style,
)

__all__ = ("OPERATIONS",)

OPERATIONS: Final[tuple[Operation, ...]] = (
    *python_names.OPERATIONS,
    *python_values.OPERATIONS,
    *python_calls.OPERATIONS,
    *python_deletes.OPERATIONS,
    *python_statements.OPERATIONS,
    *python_signatures.OPERATIONS,
    *python_definitions.OPERATIONS,
    *python_rewrites.OPERATIONS,
    *python_wraps.OPERATIONS,
    *python_faults.OPERATIONS,
    *python_order.OPERATIONS,
    *python_idioms.OPERATIONS,
    *python_collections.OPERATIONS,
    *script.OPERATIONS,
    *script_style.OPERATIONS,
    *json_members.OPERATIONS,
    *json_entries.OPERATIONS,
    *config_data.OPERATIONS,
    *markdown.OPERATIONS,
    *markdown_lists.OPERATIONS,
    *markdown_marks.OPERATIONS,
    *markup.OPERATIONS,
    *prose.OPERATIONS,
    *prose_words.OPERATIONS,
    *any_file.OPERATIONS,
    *layout.OPERATIONS,
    *nothing.OPERATIONS,
)
