"""A conflict's lines, as a person compares them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from plgd.protocol.conflicts import ConflictLines
from plgd.text.lines import split_lines

__all__ = ("conflict_lines",)

# Lines of each side that are shown; `--json` has all of them.
_SHOWN: Final = 10


def conflict_lines(conflict: ConflictLines) -> Iterator[str]:
    """Yield what was edited, what the file has now, and what the edit would have put there."""
    for name, text in (("was ", conflict.base), ("file", conflict.file), ("edit", conflict.edit)):
        lines = [line.rstrip("\r\n") for line in split_lines(text)]
        for line in lines[:_SHOWN] or ["(no lines)"]:
            yield f"  {name} | {line}"
        if len(lines) > _SHOWN:
            yield f"  {name} | ... {len(lines) - _SHOWN} more lines; --json shows all of them"
