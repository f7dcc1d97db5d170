"""Identifiers: their parts, and the same parts in another case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

__all__ = ("is_identifier", "replace_parts", "split_parts")

IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")
# `HTTPServer2_name` has the parts HTTP, Server, 2 and name.
PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[^\W\d_A-Z]+|\d+")


# Identifiers whose parts are remembered: a text has the same ones again and again.
MAX_KNOWN: Final = 4096


class _Part(NamedTuple):
    """One part: its text in lower case, and where it stands."""

    lower: str
    start: int
    end: int


def is_identifier(word: str) -> bool:
    """Tell whether a word could be a name."""
    return IDENTIFIER.fullmatch(word) is not None


def split_parts(identifier: str) -> list[str]:
    """Return the parts of an identifier in lower case."""
    return [part.lower for part in _find_parts(identifier)]


def replace_parts(identifier: str, old: Sequence[str], new: Sequence[str]) -> str | None:
    """Replace parts inside an identifier in its own case, as in `TOTAL_SUM`, `TotalSum`, `total_sum`.

    Args:
        identifier: what may contain the parts.
        old: parts in lower case; at least one.
        new: what takes their place, in lower case.

    Returns:
        The identifier with the first occurrence replaced; None when it has none.
    """
    found = _find_parts(identifier)
    parts = [part.lower for part in found]
    for start in range(len(parts) - len(old) + 1):
        if parts[start : start + len(old)] == list(old):
            first, last = found[start], found[start + len(old) - 1]
            middle = _join(new, identifier[first.start : last.end], is_first=start == 0, whole=identifier)
            return identifier[: first.start] + middle + identifier[last.end :]
    return None


@lru_cache(MAX_KNOWN)
def _find_parts(identifier: str) -> tuple[_Part, ...]:
    return tuple(_Part(match[0].lower(), match.start(), match.end()) for match in PART.finditer(identifier))


def _join(parts: Sequence[str], like: str, *, is_first: bool, whole: str) -> str:
    if like.isupper() and (len(like) > 1 or whole.isupper()):
        return "_".join(parts).upper()
    if like[:1].isupper():
        return "".join(part.capitalize() for part in parts)
    is_camel = "_" not in whole and (not is_first or not whole.islower())
    if is_camel:
        return parts[0] + "".join(part.capitalize() for part in parts[1:]) if parts else ""
    return "_".join(parts)
