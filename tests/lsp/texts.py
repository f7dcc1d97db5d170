"""What an editor does to a text: an independent, plain implementation of the protocol's text edits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from lsprotocol import types

from plgd.text.positions import Encoding

__all__ = ("changed", "offset_of", "position_of")

_CODECS: Final[dict[Encoding, tuple[str, int]]] = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}


def offset_of(text: str, position: types.Position, encoding: Encoding) -> int:
    """Return where a position is, by encoding the line and cutting its bytes; inside a character means before it."""
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
    if position.line >= len(starts):
        return len(text)
    start = starts[position.line]
    line = re.split(r"[\r\n]", text[start:], maxsplit=1)[0]
    codec, width = _CODECS[encoding]
    return start + len(line.encode(codec)[: position.character * width].decode(codec, "ignore"))


def position_of(text: str, offset: int, encoding: Encoding) -> types.Position:
    """Return the position of an offset."""
    lines = re.split(r"\r\n|\r|\n", text[:offset])
    codec, width = _CODECS[encoding]
    return types.Position(len(lines) - 1, len(lines[-1].encode(codec)) // width)


def changed(text: str, edits: Sequence[types.TextEdit], encoding: Encoding) -> str:
    """Apply edits, all of which mean the text as it was."""
    places = [
        (offset_of(text, edit.range.start, encoding), offset_of(text, edit.range.end, encoding), edit.new_text)
        for edit in edits
    ]
    for start, end, new in sorted(places, key=lambda place: place[0], reverse=True):
        text = text[:start] + new + text[end:]
    return text
