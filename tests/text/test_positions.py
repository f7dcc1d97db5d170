"""Positions name the same place in the editor and in plgd."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.text.positions import Encoding, Position, PositionCodec
from strategies import texts

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
WIDTHS: dict[Encoding, tuple[str, int]] = {
    "utf-8": ("utf-8", 1),
    "utf-16": ("utf-16-le", 2),
    "utf-32": ("utf-32-le", 4),
}

encodings = st.sampled_from(ENCODINGS)
any_text = st.one_of(texts(), st.text(st.characters(exclude_categories=["Cs"])))


@given(any_text, encodings, st.data())
def test_offset_to_position_and_back(text: str, encoding: Encoding, data: st.DataObject) -> None:
    """Every offset that is not inside a CRLF comes back from its position."""
    offset = data.draw(st.integers(0, len(text)))
    codec = PositionCodec(text, encoding)
    inside_crlf = text[max(0, offset - 1) : offset + 1] == "\r\n"
    assert offset - inside_crlf == codec.to_offset(codec.to_position(offset))


@given(any_text, encodings, st.data())
def test_characters_are_code_units_of_the_encoding(text: str, encoding: Encoding, data: st.DataObject) -> None:
    """The character of a position counts what Python's own codec makes of the line's beginning."""
    offset = data.draw(st.integers(0, len(text)))
    position = PositionCodec(text, encoding).to_position(offset)
    before = text[:offset].removesuffix("\r") if text[max(0, offset - 1) : offset + 1] == "\r\n" else text[:offset]
    start = max(before.rfind("\n"), before.rfind("\r")) + 1
    codec, width = WIDTHS[encoding]
    assert len(before[start:].encode(codec)) // width == position.character


@given(any_text, encodings)
def test_lines_are_counted_by_their_endings(text: str, encoding: Encoding) -> None:
    """An editor's text has one line more than endings: the place after a final newline counts."""
    n_endings = text.count("\n") + text.count("\r") - text.count("\r\n")
    codec = PositionCodec(text, encoding)
    assert n_endings + 1 == codec.n_lines
    assert n_endings == codec.to_position(len(text)).line


@pytest.mark.parametrize(
    ("encoding", "character", "offset"),
    [("utf-16", 1, 0), ("utf-16", 2, 1), ("utf-16", 3, 2), ("utf-8", 3, 0), ("utf-8", 4, 1), ("utf-32", 1, 1)],
)
def test_inside_a_character_is_before_it(encoding: Encoding, character: int, offset: int) -> None:
    """A position between two surrogates, or inside a UTF-8 sequence, is the one before the character."""
    assert offset == PositionCodec("😀x", encoding).to_offset(Position(0, character))


@pytest.mark.parametrize("text", ["ab\ncd\n", "ab\r\ncd\r\n", "äb\r\ncd\r\n"])
def test_past_the_end_is_the_end(text: str) -> None:
    """A character past the line's end means its end, a line past the last means the text's end."""
    codec = PositionCodec(text, "utf-16")
    assert codec.to_offset(Position(0, 99)) == 2
    assert len(text) == codec.to_offset(Position(99, 0))


@pytest.mark.parametrize("offset", [-1, 4])
def test_an_offset_outside_is_refused(offset: int) -> None:
    """An offset that is not in the text has no position."""
    with pytest.raises(ValueError, match=f"offset {offset} is not in a text of 3"):
        PositionCodec("abc", "utf-8").to_position(offset)
