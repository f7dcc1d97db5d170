"""Bytes in, lines out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.errors import FrameTooLarge
from plgd.protocol.framing import Splitter


def lines_of(splitter: Splitter, pieces: list[bytes]) -> list[bytes]:
    """Feed pieces one by one and return every line."""
    lines = []
    for piece in pieces:
        splitter.feed(piece)
        while (line := splitter.next_line()) is not None:
            lines.append(line)
    return lines


@given(st.data())
def test_lines_do_not_depend_on_how_the_bytes_arrive(data: st.DataObject) -> None:
    """A stream gives the same lines, whether it comes whole or byte by byte."""
    content = st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b"").replace(b"\r", b""))
    sent = data.draw(st.lists(content.filter(bytes.strip), max_size=8))
    stream = b"".join(line + b"\n" for line in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert sent == lines_of(Splitter(20), pieces)


def test_blank_lines_and_carriage_returns_are_allowed() -> None:
    """A person may type messages into a terminal program."""
    assert [b"{}", b"[]"] == lines_of(Splitter(10), [b"\n{}\r\n \n\r\n[]\n"])


def test_an_unfinished_line_waits() -> None:
    """Half a message is not a message."""
    splitter = Splitter(10)
    assert [b"{}"] == lines_of(splitter, [b"{}\n{"])
    assert [b"{}"] == lines_of(splitter, [b"}\n"])


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_may_be_as_long_as_the_limit(end: bytes) -> None:
    """The limit counts the message, not its end, however it arrives."""
    assert [b"x" * 10] == lines_of(Splitter(10), [b"x" * 10 + end])
    assert [b"x" * 10] == lines_of(Splitter(10), [b"x" * 10, *(bytes([byte]) for byte in end)])


@pytest.mark.parametrize("pieces", [[b"x" * 11 + b"\n"], [b"x" * 12], [b"x" * 11, b"\n"], [b"x" * 6, b"x" * 6]])
def test_a_longer_line_is_refused_before_its_end(pieces: list[bytes]) -> None:
    """An endless message is refused as soon as it passes the limit; it is not collected."""
    with pytest.raises(FrameTooLarge, match="longer than 10 bytes"):
        lines_of(Splitter(10), pieces)


def test_lines_before_an_oversized_one_are_delivered() -> None:
    """What came before the fault is served."""
    splitter = Splitter(4)
    splitter.feed(b"good\n" + b"x" * 9)
    assert splitter.next_line() == b"good"
    with pytest.raises(FrameTooLarge):
        splitter.next_line()
