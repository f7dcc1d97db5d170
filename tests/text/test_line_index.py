"""Lines are found where they are, however the text was changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.text import line_index as module
from plgd.text.line_index import LineIndex
from plgd.text.positions import Encoding, Position, PositionCodec
from strategies import texts

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
INSERTED = ("", "\n", "\r", "\r\n", "x", "a\nb")


SMALL = 6


@contextmanager
def small_blocks() -> Iterator[None]:
    """Blocks of some characters, so that short texts have many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_CHARACTERS", SMALL)
        yield


@small_blocks()
@given(text=texts(max_lines=40), data=st.data(), encoding=st.sampled_from(ENCODINGS))
def test_positions_after_changes(text: str, data: st.DataObject, encoding: Encoding) -> None:
    """After any changes, every position leads to the same place as in the text counted anew."""
    index = LineIndex(text)
    for _ in range(data.draw(st.integers(0, 6))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 8 * SMALL)) | st.just(start))
        new = data.draw(st.sampled_from(INSERTED) | texts())
        text = text[:start] + new + text[end:]
        index.replace(start, end, new)
        assert len(text) == index.n_characters
    codec = PositionCodec(text, encoding)
    assert codec.n_lines == index.n_lines
    for offset in data.draw(st.lists(st.integers(0, len(text)), max_size=8)):
        position = codec.to_position(offset)
        assert codec.to_offset(position) == index.find(position, encoding)
    assert text == index.text


@small_blocks()
def test_blocks_stay_in_size() -> None:
    """However many changes were made, a text is in about as many blocks as when it is counted anew."""
    rng = random.Random(2)  # noqa: S311  # the same changes in every run
    index = LineIndex("\n" * 2000)
    for n_lines in (1000, 3000, 300):
        while index.n_characters != n_lines:
            start = rng.randrange(index.n_characters)
            index.replace(start, *((start + 1, "") if index.n_characters > n_lines else (start, "\n")))
        assert len(index._blocks) <= 3 * len(LineIndex(index.text)._blocks)
        assert max(map(len, index._blocks)) <= 2 * SMALL
    for at, block in enumerate(list(index._blocks)):
        index.replace(at, at + len(block) - 1, "")  # the last line of each stays
    assert len(index._blocks) <= 3 * len(LineIndex(index.text)._blocks)


@pytest.mark.parametrize("text", ["".join(f"line {number}\n" for number in range(20_000)), "x" * 200_000])
def test_a_change_copies_what_is_near_it(text: str) -> None:
    """A keystroke in a long text, be it of one line, leaves all of its blocks but one or two as they are."""
    index = LineIndex(text)
    for place in (0, len(text) // 2, len(text)):
        before = list(index._blocks)
        index.replace(place, place, "x")
        assert len({id(block) for block in index._blocks} - {id(block) for block in before}) <= 2
        assert abs(len(index._blocks) - len(before)) <= 1


def test_typing_in_a_long_line_leaves_few_blocks() -> None:
    """However much is typed in a long line, it is in about as many blocks as when it is counted anew."""
    index = LineIndex("x" * 50_000)
    for place in range(10_000, 22_000):
        index.replace(place, place, "y")
    assert len(index._blocks) <= 2 * len(LineIndex(index.text)._blocks)


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


@pytest.mark.parametrize("n_lines", [1, 2, 3, 6, 7, 8, 9, 20])
@small_blocks()
def test_an_ending_that_grows_together(n_lines: int) -> None:
    """A line feed put behind a carriage return makes one ending of two, wherever lines are counted from."""
    text = "abcdef\r" * n_lines + "b"
    index = LineIndex(text)
    assert n_lines >= len(index._blocks) >= n_lines // 2
    for place in range(7, len(text), 7):
        index.replace(place, place, "\n")
        assert n_lines + 1 == index.n_lines
        index.replace(place, place + 1, "")
        index.replace(place - 1, place, "")
        assert n_lines == index.n_lines
        index.replace(place - 1, place - 1, "\r")
    assert (text, n_lines + 1) == (index.text, index.n_lines)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_line_of_a_million_characters(encoding: Encoding) -> None:
    """Places in a very long line are found without looking at its characters one by one."""
    text = "ä" * 500_000 + "😀" * 500_000
    index = LineIndex(text)
    for offset in (0, 1, 499_999, 500_000, 500_001, 999_999, 1_000_000):
        position = PositionCodec(text, encoding).to_position(offset)
        assert offset == index.find(position, encoding)
