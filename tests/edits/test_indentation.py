"""A text that is indented with tabs stays so, whatever a model writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.edits.indentation import keep_tabs
from plgd.edits.view import view
from plgd.text.lines import split_lines
from strategies import texts

TABBED = "def f(a):\n\tif a:\n\t\tresult = 1\n\n\t\treturn result\n\treturn 0\n"
RENAMED = TABBED.replace("result", "total")


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("reply", [TABBED, RENAMED, RENAMED.replace("\treturn 0", "\tx = 1\n\treturn 0")])
def test_tabs_written_as_spaces(width: int, reply: str) -> None:
    """Lines that a model indents with spaces get the tabs that the text has, changed and new lines too."""
    assert reply == keep_tabs(TABBED, reply.expandtabs(width), "Rename result to total")


def test_only_the_changed_lines_are_spaced() -> None:
    """One changed line among copied ones is enough to know how wide its tabs are."""
    reply = TABBED.replace("\t\tresult = 1", "        result = 2")
    assert TABBED.replace("= 1", "= 2") == keep_tabs(TABBED, reply, "Change 1 to 2")


def test_inserted_lines() -> None:
    """Lines that come between tab-indented ones are indented with tabs."""
    reply = TABBED.replace("\t\tresult = 1\n", "\t\tresult = 1\n        print(a)\n            # why\n")
    expected = TABBED.replace("\t\tresult = 1\n", "\t\tresult = 1\n\t\tprint(a)\n\t\t\t# why\n")
    assert expected == keep_tabs(TABBED, reply, "Print a")


@pytest.mark.parametrize("instruction", ["Convert tabs to spaces", "Indent with 4 spaces", "Format as PEP 8"])
def test_an_instruction_about_blanks(instruction: str) -> None:
    """Spaces that the instruction may have asked for stay."""
    assert TABBED.expandtabs(4) == keep_tabs(TABBED, TABBED.expandtabs(4), instruction)


def test_the_part_that_has_spaces_keeps_them() -> None:
    """In a text of both kinds, lines stay as the lines they replace."""
    spaced = "def g():\n    result = 1\n    return result\n"
    reply = (RENAMED + spaced.replace("result", "total")).expandtabs(4)
    assert RENAMED + spaced.replace("result", "total") == keep_tabs(TABBED + spaced, reply, "Rename result to total")


@given(texts(), texts())
def test_nothing_but_indentation_changes(text: str, reply: str) -> None:
    """Whatever text and reply are, only blanks at the beginning of lines are touched."""
    source, reply = view(split_lines(text)), view(split_lines(reply))
    kept = keep_tabs(source, reply, "Rename")
    assert [line.lstrip(" \t") for line in split_lines(reply)] == [line.lstrip(" \t") for line in split_lines(kept)]


@given(texts(), st.sampled_from(["", "x = 1\n"]))
def test_a_copy_stays_a_copy(text: str, more: str) -> None:
    """Lines that the model copied are not touched."""
    source = view(split_lines(text))
    assert source + more == keep_tabs(source, source + more, "Rename")
