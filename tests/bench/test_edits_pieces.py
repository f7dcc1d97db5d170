"""Texts told by another text come back whole, and hold little of it."""

from __future__ import annotations

import pytest
from hypothesis import given

from plgd.bench.edits_pieces import Piece, cut, spell
from strategies import texts

FILE = "".join(f"def function_{n}(value, other):\n    return value * {n} + other\n\n\n" for n in range(20))
LINES = FILE.splitlines(keepends=True)


def literal(pieces: list[Piece]) -> str:
    """Return what the pieces hold as text."""
    return "".join(piece for piece in pieces if isinstance(piece, str))


@given(texts(), texts())
def test_every_text_comes_back(source: str, text: str) -> None:
    """Whatever the source, pieces spell the text they were cut from."""
    assert text == spell(source, cut(source, text))


@pytest.mark.parametrize(
    ("text", "new"),
    [
        pytest.param(FILE, "", id="the same"),
        pytest.param("".join(LINES[8:20]), "", id="a part"),
        pytest.param("".join(LINES[40:] + LINES[:40]), "", id="moved"),
        pytest.param(FILE.replace("value", "amount"), "amount" * 40, id="renamed"),
        pytest.param(FILE.replace("    ", "  "), "  " * 20, id="indented otherwise"),
        pytest.param(FILE + "# The end.\n", "# The end.\n", id="a line more"),
    ],
)
def test_only_what_is_new_is_told_by_text(text: str, new: str) -> None:
    """Moved, renamed and re-indented texts hold nothing of the source but stretches."""
    pieces = cut(FILE, text)
    assert text == spell(FILE, pieces)
    assert new == literal(pieces)


def test_few_pieces_tell_a_small_change() -> None:
    """A changed word costs three pieces."""
    assert 3 == len(cut(FILE, FILE.replace("function_7", "seventh")))


@pytest.mark.parametrize("piece", [(0, 6), (-1, 2), (3, 3), (9, 12)])
def test_stretches_that_the_source_does_not_have(piece: tuple[int, int]) -> None:
    """A stretch outside of the source is an error and no shorter text."""
    with pytest.raises(ValueError, match="the source has no characters"):
        spell("12345", [piece])
