"""The token index gives what tokenizing from scratch gives, whatever was typed, in every family of tokenizers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_histories import edited, histories
from plgd.documents.tokens import BLOCK_CHARACTERS, TokenIndex
from plgd.engine.model import Span
from scripted_model import ByteTokenizer

LONG = "".join(f"line {number}: x = {number * 7} # ünï 😀\r\n" for number in range(200))


class CountingTokenizer(ByteTokenizer):
    """Counts the characters that it is given."""

    border = re.compile(r"(?<=\n)(?=\w)")

    def __init__(self) -> None:
        self.n_characters = 0

    def encode(self, text: str) -> list[int]:
        self.n_characters += len(text)
        return super().encode(text)


@settings(deadline=None)
@given(history=histories())
def test_edits_keep_the_index_equal(history: tuple[str, list[str]]) -> None:
    """After any edits the tokens are those of the text as it is now."""
    text, later = history
    index = TokenIndex(ByteTokenizer(), text)
    for text in later:
        index.update(text)
        assert (text, list(text.encode())) == (index.text, index.tokens())
        assert len(text.encode()) == index.n_tokens


@settings(deadline=None)
@given(history=histories(), data=st.data())
def test_parts_equal_their_own_tokens(history: tuple[str, list[str]], data: st.DataObject) -> None:
    """A part of the text, with another text behind it, has the tokens that it has alone."""
    text, later = history
    index = TokenIndex(ByteTokenizer(), text)
    for text in later:
        index.update(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert list((text[start:end] + "```").encode()) == index.encode_part(start, end, "```")


@settings(deadline=None)
@given(history=histories())
def test_the_draft_index_follows_the_text(history: tuple[str, list[str]]) -> None:
    """Whatever stands behind it, a text begins with the tokens of its draft index; only the last block is left out."""
    text, later = history
    index = TokenIndex(ByteTokenizer(), text)
    for text_now in (text, *later):
        index.update(text_now)
        known = index.source().tokens
        assert known == list((text_now + "```").encode())[: len(known)]
        assert len(known) == index.n_source >= len(text_now.encode()) - 8 * BLOCK_CHARACTERS


def test_the_draft_index_is_made_once() -> None:
    """As long as the text stays, so does its draft index; it is made when it is asked for."""
    index = TokenIndex(ByteTokenizer(), LONG)
    assert 0 == index.n_source
    first = index.source()
    index.update(LONG)
    assert first is index.source()
    index.update(LONG + "x")
    assert 0 == index.n_source
    index.source()
    index.drop_source()
    assert 0 == index.n_source


def test_the_inside_lies_between_borders() -> None:
    """The stretch that prompts take over begins and ends at borders and has its own tokens."""
    index = TokenIndex(ByteTokenizer(), LONG)
    inside = index.inside()
    assert inside is not None
    assert 0 < inside.start < inside.end < len(LONG)
    assert list(LONG[inside.start : inside.end].encode()) == list(inside.tokens)


def test_a_small_text_has_no_inside() -> None:
    """A text of one or two blocks is tokenized with its prompt."""
    assert TokenIndex(ByteTokenizer(), "x\n").inside() is None


def test_a_keystroke_costs_a_few_lines() -> None:
    """A change tokenizes the blocks around it, not the text."""
    tokenizer = CountingTokenizer()
    index = TokenIndex(tokenizer, LONG)
    tokenizer.n_characters = 0
    middle = len(LONG) // 2
    index.update(LONG[:middle] + "y" + LONG[middle:])
    assert 0 < tokenizer.n_characters < 4 * BLOCK_CHARACTERS


def test_many_keystrokes_leave_no_crumbs() -> None:
    """However often a text is changed in all its places, its blocks stay of their size."""
    index = TokenIndex(CountingTokenizer(), LONG)
    text = LONG
    for place in range(len(LONG) - 10, 0, -40):
        text = text[:place] + text[place + 30 :]
        index.update(text)
    assert list(text.encode()) == index.tokens()
    assert len(index._blocks) <= 2 + 2 * len(text) // (BLOCK_CHARACTERS // 2)


def test_the_same_text_costs_nothing() -> None:
    """An update with the text that is held does nothing."""
    tokenizer = CountingTokenizer()
    index = TokenIndex(tokenizer, LONG)
    tokenizer.n_characters = 0
    assert 0 == index.update(LONG) == tokenizer.n_characters


def test_spans_are_characters() -> None:
    """A token's span is in characters of the whole text; the bytes of one character share it."""
    index = TokenIndex(ByteTokenizer(), LONG)
    place = LONG.index("😀", 5000)
    first = len(LONG[:place].encode())
    assert [Span(place, place + 1)] * 4 == [index.span(first + byte) for byte in range(4)]
    with pytest.raises(IndexError):
        index.span(index.n_tokens)


@given(st.text(max_size=30), st.text(max_size=30))
def test_edits_are_what_they_say(old: str, new: str) -> None:
    """The strategy's own edits lead from text to text."""
    assert new == edited(old, 0, len(old), new)
