"""What the model does not change keeps its bytes, whatever the model was shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.edits.view import rewrite_lines, view
from plgd.text.lines import body, ending, split_lines
from strategies import line_bodies, texts

sources = texts(min_lines=1).map(split_lines)


def _rewritten(source: tuple[str, ...], reply: str) -> tuple[str, ...]:
    return rewrite_lines(source, 1, len(source), reply)


@given(sources)
def test_an_unchanged_view_is_the_source(source: tuple[str, ...]) -> None:
    """When the model repeats what it saw, the text is what it was, byte for byte."""
    assert source == _rewritten(source, view(source))


@given(sources, st.lists(line_bodies(), min_size=1), st.data())
def test_lines_around_a_change_keep_their_bytes(source: tuple[str, ...], new: list[str], data: st.DataObject) -> None:
    """Lines before and after a change keep their endings; only the text's last line may gain or lose its own."""
    first = data.draw(st.integers(0, len(source)))
    last = data.draw(st.integers(first, len(source)))
    new = [f"new {line}" for line in new]
    reply = view((*source[:first], *new, *source[last:]))
    restored = _rewritten(source, reply)
    assert split_lines(reply) == split_lines(view(restored))
    if last < len(source):
        assert (*source[:first], *source[last:]) == (*restored[:first], *restored[first + len(new) :])
    else:
        assert source[:first] == restored[:first] or not ending(source[-1])
    assert bool(ending(source[-1])) == bool(ending(restored[-1]))


@given(sources, texts())
def test_whatever_the_reply_lines_stay_lines(source: tuple[str, ...], reply: str) -> None:
    """The restored lines say what the reply says; the last one ends if the source's does, or if it is empty."""
    restored = _rewritten(source, reply)
    assert [body(line) for line in split_lines(reply)] == [body(line) for line in restored]
    assert restored == split_lines("".join(restored))
    if restored and body(restored[-1]):
        assert bool(ending(source[-1])) == bool(ending(restored[-1]))


@pytest.mark.parametrize(
    ("source", "reply", "expected"),
    [
        ("a\r\nb\r\n", "a\nB\n", "a\r\nB\r\n"),
        ("a\r\nb\r\n", "a\nb\nc\n", "a\r\nb\r\nc\r\n"),
        ("a\r\nb\nc\n", "A\nB\nc\n", "A\r\nB\nc\n"),
        ("a\r\nb\nc\n", "a\nx\nb\nc\n", "a\r\nx\r\nb\nc\n"),
        ("a\r\nb\nc\n", "x\na\nb\nc\n", "x\r\na\r\nb\nc\n"),
        ("a\r\nb\r\n", "z\na\nb\n", "z\r\na\r\nb\r\n"),
        ("a\rb\nc\r\n", "a\nB\nB2\nc\n", "a\rB\nB2\nc\r\n"),
        ("a\r\nb", "a\nb\nc\n", "a\r\nb\r\nc"),
        ("a\nb", "a\n", "a"),
        ("a", "b\nc\n", "b\nc"),
        ("a\n", "b", "b\n"),
        ("a\r\nb", "a\nb\n\n", "a\r\nb\r\n\r\n"),
        ("a\r\nb\n", "", ""),
    ],
)
def test_new_lines_take_their_neighbours_ending(source: str, reply: str, expected: str) -> None:
    """A changed line keeps its ending, a new one takes its neighbour's, the final newline stays as it was."""
    assert expected == "".join(_rewritten(split_lines(source), reply))


@given(sources, texts(), st.data())
def test_only_the_range_changes(source: tuple[str, ...], reply: str, data: st.DataObject) -> None:
    """Lines around a rewritten range are not touched, whatever the model says."""
    first = data.draw(st.integers(1, len(source)))
    last = data.draw(st.integers(first, len(source)))
    new = rewrite_lines(source, first, last, reply)
    before, after = source[: first - 1], source[last:]
    # A lone carriage return right before an empty line would join it; that one line may change its ending.
    assert [body(line) for line in before] == [body(line) for line in new[: len(before)]]
    assert before[:-1] == new[: max(0, len(before) - 1)] or "\r" in {ending(line) for line in before}
    assert after == new[len(new) - len(after) :]


def test_a_lone_carriage_return_does_not_join_the_next_line() -> None:
    """When lines between a lone carriage return and an empty line go, both lines stay."""
    assert ("a\n", "\n", "c\n") == rewrite_lines(("a\r", "b\n", "\n", "c\n"), 2, 2, "")


def test_an_empty_text_gets_whole_lines() -> None:
    """What is written into an empty text are lines that all end."""
    assert ("a\n", "b\n") == rewrite_lines((), 1, 0, "a\nb")


def test_a_line_without_a_neighbour_takes_the_usual_ending() -> None:
    """Behind a last line without an ending, new lines get the text's usual one."""
    assert ("x\r\n", "b\r\n", "c") == rewrite_lines(("x\r\n", "a"), 2, 2, "b\nc\n")
