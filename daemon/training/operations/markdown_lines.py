"""Lines of Markdown: which are in code."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ("fenced_lines",)


def fenced_lines(lines: Sequence[str]) -> list[bool]:
    """Tell of each line whether it is in a code block, the fences included."""
    inside = False
    found = []
    for line in lines:
        is_fence = re.match(r"\s*(?:```|~~~)", line) is not None
        found.append(inside or is_fence)
        inside ^= is_fence
    return found
