"""The differ sees every byte, and stays fast."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.text.diff import Hunk, apply_hunks, diff_lines
from plgd.text.lines import split_lines
from strategies import texts


@given(texts(), texts())
def test_applying_the_diff_gives_the_new_text(old: str, new: str) -> None:
    """The hunks of two texts turn the first into exactly the second."""
    lines = split_lines(old)
    assert new == "".join(apply_hunks(lines, diff_lines(lines, split_lines(new))))


@given(texts())
def test_equal_texts_have_no_hunks(text: str) -> None:
    """A text does not differ from itself."""
    assert diff_lines(split_lines(text), split_lines(text)) == ()


@given(texts(), texts())
def test_hunks_are_in_order_and_apart(old: str, new: str) -> None:
    """Between two hunks stands at least one equal line, the same on both sides; no hunk is empty."""
    hunks = diff_lines(split_lines(old), split_lines(new))
    for before, after in pairwise(hunks):
        assert after.old_start - before.old_end == after.new_start - before.new_end > 0
    assert all(hunk.old_lines != hunk.new_lines for hunk in hunks)


@pytest.mark.parametrize(
    ("old", "new"), [("a \n", "a\n"), ("a\n", "a\r\n"), ("a\n", "a"), ("\ta\n", "    a\n"), ("e\u0301\n", "é\n")]
)
def test_blanks_and_endings_count(old: str, new: str) -> None:
    """A change of blanks, of a line ending or of Unicode form alone is a change."""
    assert (Hunk(0, (old,), 0, (new,)),) == diff_lines((old,), (new,))


@given(st.sets(st.integers(0, 399), max_size=40), st.integers(0, 399), st.integers(0, 399))
def test_large_texts_are_cut_at_unique_lines(changed: set[int], moved_from: int, moved_to: int) -> None:
    """Scattered changes and a moved line in a large file stay as small as they are."""
    old = [f"line {number}\n" for number in range(400)]
    new = [line.upper() if number in changed else line for number, line in enumerate(old)]
    new.insert(moved_to, new.pop(moved_from))
    hunks = diff_lines(old, new)
    assert tuple(new) == apply_hunks(old, hunks)
    assert sum(len(hunk.old_lines) for hunk in hunks) <= len(changed) + 1


def test_every_second_line_changed_in_a_large_file() -> None:
    """In 20,000 lines of which every second changed, each change is a hunk of its own."""
    old = [f"value_{number} = old\n" if number % 2 else f"# {number}\n" for number in range(20_000)]
    new = [line.replace("old", "new") for line in old]
    hunks = diff_lines(old, new)
    assert len(hunks) == 10_000
    assert tuple(new) == apply_hunks(old, hunks)


@pytest.mark.parametrize(
    "old", [["a\n", "b\n", "c\n"] * 50, [f"{number // 7}\n" for number in range(2000)]], ids=["few", "many"]
)
def test_changes_among_repeated_lines(old: list[str]) -> None:
    """Two changed lines are two hunks, also where no line of the text occurs only once."""
    new = [*old[:10], "new\n", *old[11:-10], "new\n", *old[-9:]]
    assert [(10, 1), (len(old) - 10, 1)] == [(hunk.old_start, len(hunk.old_lines)) for hunk in diff_lines(old, new)]


@pytest.mark.parametrize("n_lines", [10, 20_000])
def test_repeated_lines(n_lines: int) -> None:
    """A file of one line repeated, and another, differ correctly, however many lines they have."""
    old, new = ["a\n", "b\n"] * n_lines, ["b\n", "b\n", "a\n"] * n_lines
    assert tuple(new) == apply_hunks(old, diff_lines(old, new))


def test_a_hunk_that_does_not_fit_is_refused() -> None:
    """Hunks are never applied to lines they were not made for."""
    with pytest.raises(ValueError, match="the hunk at line 2 does not fit"):
        apply_hunks(("a\n", "c\n"), (Hunk(1, ("b\n",), 1, ()),))
