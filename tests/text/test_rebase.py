"""An edit moves along when other lines change, and stops when its own lines did."""

from __future__ import annotations

import pytest
from hypothesis import given

from plgd.text.diff import apply_hunks, diff_lines
from plgd.text.lines import split_lines
from plgd.text.rebase import Clash, rebase_hunks
from strategies import texts

BASE = tuple(f"{number}\n" for number in range(1, 11))


def _rebased(edited: tuple[str, ...], current: tuple[str, ...]) -> tuple[str, ...] | Clash:
    hunks = rebase_hunks(diff_lines(BASE, edited), BASE, current)
    return hunks if isinstance(hunks, Clash) else apply_hunks(current, hunks)


def _with(*changes: tuple[int, int, tuple[str, ...]]) -> tuple[str, ...]:
    """Replace the base's lines after `first` up to `last` by others; the last change first."""
    lines = list(BASE)
    for start, end, new in changes:
        lines[start:end] = new
    return tuple(lines)


@pytest.mark.parametrize(
    "theirs",
    [
        _with((0, 0, ("new\n", "new\n"))),
        _with((0, 2, ())),
        _with((9, 10, ("x\n",))),
        _with((9, 10, ()), (0, 1, ("y\n",))),
    ],
    ids=["inserted-above", "deleted-above", "changed-below", "both"],
)
def test_changes_elsewhere_are_kept(theirs: tuple[str, ...]) -> None:
    """Lines that others inserted, deleted or changed away from the edit stay, and the edit lands on its own lines."""
    at = theirs.index("5\n")
    assert (*theirs[:at], "FIVE\n", *theirs[at + 1 :]) == _rebased(_with((4, 5, ("FIVE\n",))), theirs)


@pytest.mark.parametrize(
    ("theirs", "clash"),
    [
        (_with((4, 5, ("other\n",))), Clash(5, 5)),
        (_with((4, 5, ())), Clash(5, 5)),
        (_with((3, 4, ("other\n",))), Clash(4, 5)),
        (_with((5, 5, ("other\n",))), Clash(5, 5)),
        (_with((2, 8, ())), Clash(3, 8)),
    ],
    ids=["same-line", "deleted", "line-above", "inserted-below", "block"],
)
def test_changes_of_the_same_lines_clash(theirs: tuple[str, ...], clash: Clash) -> None:
    """An edit of lines that others changed, or of lines beside them, is not applied; the clash names the lines."""
    assert clash == _rebased(_with((4, 5, ("FIVE\n",))), theirs)


def test_two_insertions_at_one_place_clash() -> None:
    """Of two insertions at one place nobody knows the order."""
    assert Clash(5, 4) == _rebased(_with((4, 4, ("mine\n",))), _with((4, 4, ("theirs\n",))))


def test_a_change_made_already_is_left_out() -> None:
    """When the current text has a part of the edit already, only the rest is applied."""
    edited = _with((7, 8, ("EIGHT\n", "and\n")), (1, 2, ()))
    assert edited == _rebased(edited, _with((1, 2, ())))


@given(texts(), texts())
def test_an_unchanged_base_moves_nothing(base: str, edited: str) -> None:
    """On the text it was made for, an edit stays as it is."""
    lines = split_lines(base)
    hunks = diff_lines(lines, split_lines(edited))
    assert hunks == rebase_hunks(hunks, lines, lines)


@given(texts(), texts(), texts())
def test_a_rebased_edit_keeps_both_sides(base: str, edited: str, current: str) -> None:
    """Whatever both sides changed, a rebased edit fits the current text and carries every one of its new lines."""
    lines, now = split_lines(base), split_lines(current)
    moved = rebase_hunks(diff_lines(lines, split_lines(edited)), lines, now)
    if not isinstance(moved, Clash):
        result = apply_hunks(now, moved)
        assert len(now) + sum(len(hunk.new_lines) - len(hunk.old_lines) for hunk in moved) == len(result)
        for hunk in moved:
            assert hunk.new_lines == result[hunk.new_start : hunk.new_end]
