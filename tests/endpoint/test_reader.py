"""A reply's stop texts, whatever pieces they come in."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from plgd.completions.reader import StopReader

END = -1


class Pieces:
    """A detokenizer whose tokens are numbers of pieces of text."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces

    def push(self, token: int) -> str:
        return self._pieces[token]

    def finish(self) -> str:
        return ""


def read(pieces: Sequence[str], stop: Sequence[str]) -> tuple[str, bool]:
    """Read a reply to its end; returns what was given out, piece by piece, and whether a stop text ended it."""
    reader = StopReader(Pieces(pieces), stop, {END})
    given_out = ""
    stopped = False
    for token in range(len(pieces)):
        stopped = reader.push(token)
        given_out += reader.take()
        if stopped:
            break
    reader.finish()
    given_out += reader.take()
    assert given_out == reader.text
    return given_out, stopped


@given(
    pieces=st.lists(st.text("ab", max_size=4), max_size=12),
    stop=st.lists(st.text("ab", min_size=1, max_size=4), max_size=3),
)
def test_a_reply_ends_before_its_first_stop_text(pieces: list[str], stop: list[str]) -> None:
    """However tokens cut it, the text ends before the first stop text in it, and nothing of that is ever given out."""
    expected, is_stopped = "".join(pieces), False
    text = ""
    for piece in pieces:
        text += piece
        if places := [text.find(each) for each in stop if each in text]:
            expected, is_stopped = text[: min(places)], True
            break
    assert (expected, is_stopped) == read(pieces, stop)


def test_text_is_given_out_as_early_as_it_is_certain() -> None:
    """Only what a stop text may begin with is held back, and no longer than that is open."""
    reader = StopReader(Pieces(["one <", "/b>", "x"]), ["</a>"], {END})
    reader.push(0)
    assert "one " == reader.take()
    reader.push(1)
    assert "</b>" == reader.take()


def test_the_end_token_is_no_text() -> None:
    """The token that ends a reply stands for no text and ends nothing by itself."""
    reader = StopReader(Pieces(["a"]), ["a"], {END})
    assert not reader.push(END)
    reader.finish()
    assert "" == reader.text
