r"""Lines are what editors and compilers call lines."""

from __future__ import annotations

import pytest
from hypothesis import given

from plgd.text.lines import body, common_ending, ending, split_lines
from strategies import texts


@given(texts())
def test_joined_lines_are_the_text(text: str) -> None:
    """Splitting a text into lines loses nothing."""
    assert text == "".join(split_lines(text))


@given(texts())
def test_every_line_is_one_line(text: str) -> None:
    """A line has a body without endings and one ending; only the last line may lack it."""
    lines = split_lines(text)
    for line in lines:
        assert line == body(line) + ending(line)
        assert not set(body(line)) & {"\r", "\n"}
    assert all(ending(line) in {"\n", "\r\n", "\r"} for line in lines[:-1])


@pytest.mark.parametrize("character", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_other_separators_do_not_split(character: str) -> None:
    """Form feed, NEL, U+2028 and their like are characters within a line, as in every editor."""
    assert (f"a{character}b\n", "c") == split_lines(f"a{character}b\nc")


@pytest.mark.parametrize(
    ("text", "n_lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\n\n", 2), ("\n", 1), ("a\r\nb\rc\nd", 4), ("\n\r", 2)]
)
def test_line_count(text: str, n_lines: int) -> None:
    """A final newline ends the last line and begins no further one."""
    assert n_lines == len(split_lines(text))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [((), "\n"), (("a",), "\n"), (("a\r\n", "b\r\n", "c\n"), "\r\n"), (("a\r", "b\n"), "\r"), (("a\r\n", "b"), "\r\n")],
)
def test_common_ending(lines: tuple[str, ...], expected: str) -> None:
    """The common ending is the one that most lines have."""
    assert expected == common_ending(lines)
