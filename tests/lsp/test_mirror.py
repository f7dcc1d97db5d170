"""The mirror of the editor's texts, and the places in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from lsp.texts import changed, offset_of, position_of
from plgd.documents.open import OpenDocuments, TextEdit
from plgd.protocol.documents import TextChange, TextPosition
from plgd.text.lines import split_lines
from plgd.text.positions import Encoding, Position
from plgd_lsp.mirror import MirroredDocument
from plgd_lsp.places import Lines, NoSuchLines, lines_of, range_of

# Everything that splits lines somewhere, or takes more than one unit.
CHARACTERS = "a\n\r\t\f\v\x1c\x85\u2028\u2029é\U0001f600"
texts = st.text(alphabet=CHARACTERS, max_size=20)
encodings = st.sampled_from(["utf-8", "utf-16"])


def mirrored(text: str, encoding: Encoding = "utf-16") -> MirroredDocument:
    """Open a document."""
    return MirroredDocument(types.TextDocumentItem("file:///a", "python", 1, text), encoding)


def _sent(change: TextChange) -> TextEdit:
    if change.range is None:
        return TextEdit(change.text)

    def place(position: TextPosition) -> Position:
        return Position(position.line, position.character)

    return TextEdit(change.text, place(change.range.start), place(change.range.end))


@given(texts, texts, encodings, st.data())
def test_changes_are_exact_with_any_character(text: str, new: str, encoding: Encoding, data: st.DataObject) -> None:
    """Form feeds, NEL, U+2028 and emoji end no line and shift no change; the daemon gets the same text."""
    ends = [place for place in range(len(text) + 1) if text[place - 1 : place + 1] != "\r\n"]
    first, last = sorted((data.draw(st.sampled_from(ends)), data.draw(st.sampled_from(ends))))
    span = types.Range(position_of(text, first, encoding), position_of(text, last, encoding))
    document = mirrored(text, encoding)
    change = types.TextDocumentContentChangePartial(range=span, text=new)
    sent = document.change(2, [change])
    assert f"{text[:first]}{new}{text[last:]}" == document.text
    assert document.text == changed(text, [types.TextEdit(span, new)], encoding)
    daemon = OpenDocuments()
    daemon.open(0, "file:///a", text, 1, encoding=encoding)
    assert document.text == daemon.change(0, "file:///a", 2, [_sent(one) for one in sent]).text


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (((0, 0), (99, 0)), "X"),
        (((0, 99), (1, 0)), "abXcd"),
        (((1, 2), (0, 1)), "aX"),
        (((7, 7), (9, 9)), "ab\ncdX"),
        (((9, 9), (1, 2)), "ab\ncdX"),
    ],
)
def test_generous_ranges_are_moved_into_the_text(span: tuple[tuple[int, int], tuple[int, int]], expected: str) -> None:
    """A range past the end of a line or of the text, or reversed, means what is left of it."""
    document = mirrored("ab\ncd")
    places = types.Range(types.Position(*span[0]), types.Position(*span[1]))
    document.change(2, [types.TextDocumentContentChangePartial(range=places, text="X")])
    assert expected == document.text


def test_a_change_leaves_the_lines_elsewhere_alone() -> None:
    """Of a long text, only the lines around what is typed are looked at."""
    document = mirrored("".join(f"line {number}\r\n" for number in range(20_000)))
    before = document.lines
    here = types.Position(10_000, 4)
    document.change(2, [types.TextDocumentContentChangePartial(range=types.Range(here, here), text="s\n")])
    after = document.lines
    assert ("lines\n", " 10000\r\n") == after[10_000:10_002]
    elsewhere = zip(before[:9_999] + before[10_001:], after[:9_999] + after[10_002:], strict=True)
    assert all(old is new for old, new in elsewhere)


def test_a_place_inside_a_character_is_before_it() -> None:
    """Half of an emoji cannot be replaced; the place moves before it."""
    document = mirrored("a\U0001f600b")
    inside = types.Range(types.Position(0, 2), types.Position(0, 3))
    (sent,) = document.change(2, [types.TextDocumentContentChangePartial(range=inside, text="X")])
    assert "aXb" == document.text
    assert sent.range is not None
    assert 1 == sent.range.start.character


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ((0, 0), (0, 0), Lines(0, 1)),
        ((0, 1), (1, 1), Lines(0, 2)),
        ((0, 0), (1, 0), Lines(0, 1)),
        ((0, 0), (3, 0), Lines(0, 3)),
        ((1, 0), (99, 0), Lines(1, 3)),
    ],
)
def test_a_selection_is_its_lines(start: tuple[int, int], end: tuple[int, int], expected: Lines) -> None:
    """A selection touches whole lines; one that ends at the start of a line does not touch that one."""
    assert expected == lines_of(types.Range(types.Position(*start), types.Position(*end)), 3)


@pytest.mark.parametrize(
    ("start", "end", "reason"),
    [((1, 0), (0, 0), "reversed"), ((3, 0), (3, 0), "nothing on line 4"), ((9, 0), (12, 0), "the text has 3 lines")],
)
def test_a_selection_of_nothing_is_said(start: tuple[int, int], end: tuple[int, int], reason: str) -> None:
    """A reversed range, and one behind the text, name no lines."""
    with pytest.raises(NoSuchLines, match=reason):
        lines_of(types.Range(types.Position(*start), types.Position(*end)), 3)


@given(texts, encodings, st.data())
def test_ranges_of_lines_cover_exactly_them(text: str, encoding: Encoding, data: st.DataObject) -> None:
    """The range that is sent for lines covers these lines in the editor, with or without a final newline."""
    lines = split_lines(text)
    start = data.draw(st.integers(0, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    span = range_of(Lines(start, end), lines, encoding)
    covered = text[offset_of(text, span.start, encoding) : offset_of(text, span.end, encoding)]
    assert "".join(lines[start:end]) == covered


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 5), ("utf-16", 3)])
def test_without_a_final_newline_a_range_ends_in_the_last_line(encoding: Encoding, units: int) -> None:
    """Some editors refuse a line behind the last, so the end of the text is said as a place that there is."""
    last = types.Position(1, units)
    assert last == range_of(Lines(0, 2), ("a\n", "b\U0001f600"), encoding).end
    assert types.Position(1, 0) == range_of(Lines(0, 1), ("a\n",), encoding).end
