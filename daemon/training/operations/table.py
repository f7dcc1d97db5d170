"""Every operation, with its weight."""

from __future__ import annotations

from typing import Final

from training.edit import Operation
from training.operations import (
    any_file,
    config_data,
    json_data,
    markdown,
    markup,
    nothing,
    prose,
    python_collections,
    python_deletes,
    python_idioms,
    python_inserts,
    python_names,
    python_rewrites,
    python_values,
    script,
)

__all__ = ("OPERATIONS",)

OPERATIONS: Final[tuple[Operation, ...]] = (
    *python_names.OPERATIONS,
    *python_values.OPERATIONS,
    *python_deletes.OPERATIONS,
    *python_inserts.OPERATIONS,
    *python_rewrites.OPERATIONS,
    *python_idioms.OPERATIONS,
    *python_collections.OPERATIONS,
    *script.OPERATIONS,
    *json_data.OPERATIONS,
    *config_data.OPERATIONS,
    *markdown.OPERATIONS,
    *markup.OPERATIONS,
    *prose.OPERATIONS,
    *any_file.OPERATIONS,
    *nothing.OPERATIONS,
)
