"""A conflict says what each side has at its lines."""

from __future__ import annotations

from hypothesis import given

from plgd.text.clash import ClashingLines, clashing_lines
from plgd.text.diff import diff_lines
from plgd.text.lines import split_lines
from plgd.text.rebase import Clash, rebase_hunks
from strategies import texts

BASE = tuple(f"{number}\n" for number in range(1, 11))


def clash_of(base: tuple[str, ...], ours: tuple[str, ...], theirs: tuple[str, ...]) -> ClashingLines | None:
    """Return the first clash of two texts, if there is one."""
    found = rebase_hunks(diff_lines(base, ours), base, theirs)
    return clashing_lines(found, base, ours, theirs) if isinstance(found, Clash) else None


def test_a_clash_shows_the_lines_of_all_three() -> None:
    """Where two changed a line, the base's, ours and theirs are told, each where it stands in its own text."""
    theirs = ("x\n", "y\n", *BASE[:4], "five\n", "and a half\n", *BASE[5:])
    ours = (*BASE[:4], "FIVE\n", *BASE[5:9], "TEN\n")
    assert ClashingLines(5, 5, 7, ("5\n",), ("FIVE\n",), ("five\n", "and a half\n")) == clash_of(BASE, ours, theirs)


def test_a_clash_holds_whole_changes() -> None:
    """A change that begins inside the clash and ends behind it is told whole."""
    ours = (*BASE[:1], "a\n", *BASE[4:])
    theirs = (*BASE[:3], "b\n", *BASE[6:])
    found = clash_of(BASE, ours, theirs)
    assert ClashingLines(2, 6, 2, BASE[1:6], ("a\n", "5\n", "6\n"), ("2\n", "3\n", "b\n")) == found


def test_a_clash_grows_over_every_change_that_it_cuts() -> None:
    """A second change of ours that the first clash reaches into is part of it."""
    ours = (*BASE[:1], "a\n", *BASE[3:5], "c\n", *BASE[7:])
    theirs = (*BASE[:2], "b\n", *BASE[6:])
    found = clash_of(BASE, ours, theirs)
    assert ClashingLines(2, 7, 2, BASE[1:7], ("a\n", "4\n", "5\n", "c\n"), ("2\n", "b\n", "7\n")) == found


def test_two_insertions_at_one_place_clash_there() -> None:
    """Where both only insert, the base has no lines of the place."""
    ours, theirs = (*BASE[:3], "a\n", *BASE[3:]), (*BASE[:3], "b\n", *BASE[3:])
    assert ClashingLines(4, 3, 4, (), ("a\n",), ("b\n",)) == clash_of(BASE, ours, theirs)


@given(texts(), texts(), texts())
def test_the_lines_are_what_the_texts_have_there(base: str, ours: str, theirs: str) -> None:
    """Each side's lines stand in its text and differ from the base's, and no change of theirs is cut in two."""
    lines, our_lines, their_lines = split_lines(base), split_lines(ours), split_lines(theirs)
    found = clash_of(lines, our_lines, their_lines)
    if found is None:
        return
    assert found.base == lines[found.first - 1 : found.last]
    assert found.ours != found.base
    assert found.theirs != found.base
    assert found.theirs == their_lines[found.their_first - 1 :][: len(found.theirs)]
    rest = lines[found.last :]
    tail = their_lines[found.their_first - 1 + len(found.theirs) :]
    assert len(diff_lines(rest, tail)) <= len(diff_lines(lines, their_lines)) - 1
