"""Progress follows the reply through the text."""

from __future__ import annotations

from plgd.edits.coverage import Coverage

SOURCE = "".join(f"line {number}\n" for number in range(1000))


def _percent(*pieces: str) -> float:
    coverage = Coverage(SOURCE)
    for piece in pieces:
        coverage.feed(piece)
    return coverage.percent


def test_a_copied_line_counts_when_it_is_whole() -> None:
    """Lines that the reply copies move the progress, however they are cut; a part of a line does not."""
    assert _percent("line 0\nli", "ne 1", "\nline 2") == 0.2


def test_changed_and_new_lines_wait_for_the_next_copied_one() -> None:
    """Changed and inserted lines do not move the progress, and the next copied line catches up."""
    assert _percent("line 0\nchanged\nnew\n") == 0.1
    assert _percent("line 0\nchanged\nnew\nline 3\n") == 0.4


def test_a_line_far_ahead_does_not_jump() -> None:
    """A line that stands far ahead in the text by chance does not throw the progress forward."""
    assert _percent("line 0\nline 900\n") == 0.1


def test_the_end_is_all() -> None:
    """A reply that copied the last line has passed the whole text."""
    assert _percent(SOURCE) == 100.0
