"""Lines are found where they are, however the text was changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.text.line_index import LineIndex
from plgd.text.positions import Encoding, Position, PositionCodec
from strategies import texts

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


@given(text=texts(max_lines=40).map(lambda text: text * 6), data=st.data(), encoding=st.sampled_from(ENCODINGS))
def test_positions_after_changes(text: str, data: st.DataObject, encoding: Encoding) -> None:
    """After any changes, every position leads to the same place as in the text counted anew."""
    index = LineIndex(text)
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 300)))
        new = data.draw(st.sampled_from(("", "\n", "\r", "\r\n", "x", "a\nb")) | texts())
        text = text[:start] + new + text[end:]
        index.replace(start, end, new)
    assert text == index.text
    codec = PositionCodec(text, encoding)
    assert codec.n_lines == index.n_lines
    offset = data.draw(st.integers(0, len(text)))
    position = codec.to_position(offset)
    assert codec.to_offset(position) == index.find(position, encoding)


def test_past_the_end_of_a_line_is_its_end() -> None:
    """A character too far right means the end of the line, before its ending, as the editors' protocol says."""
    assert 2 == LineIndex("ab\r\nc").find(Position(0, 99), "utf-16")


def test_behind_the_last_line_is_the_end() -> None:
    """Editors name the whole text by the start of the line behind its last."""
    assert 4 == LineIndex("ab\nc").find(Position(2, 0), "utf-16")


@pytest.mark.parametrize("position", [Position(3, 0), Position(2, 1), Position(-1, 0), Position(0, -1)])
def test_lines_that_are_not_there(position: Position) -> None:
    """A line that the text does not have is refused."""
    with pytest.raises(ValueError, match="no line"):
        LineIndex("ab\nc").find(position, "utf-16")


@pytest.mark.parametrize(("encoding", "character"), [("utf-16", 2), ("utf-8", 2), ("utf-8", 4)])
def test_the_middle_of_a_character(encoding: Encoding, character: int) -> None:
    """Between two surrogates or inside a character's bytes there is no place to change anything."""
    with pytest.raises(ValueError, match="inside a character"):
        LineIndex("a😀b").find(Position(0, character), encoding)


@pytest.mark.parametrize("n_lines", [63, 64, 65, 128])
def test_an_ending_that_grows_together(n_lines: int) -> None:
    """A line feed put behind a carriage return makes one ending of two, wherever lines are counted from."""
    text = "a\r" * n_lines + "b"
    index = LineIndex(text)
    index.replace(2 * n_lines, 2 * n_lines, "\n")
    assert n_lines + 1 == index.n_lines
    index.replace(2 * n_lines, 2 * n_lines + 1, "")
    index.replace(2 * n_lines, 2 * n_lines + 1, "")
    assert n_lines + 1 == index.n_lines
