"""A diff as a terminal shows it."""

from __future__ import annotations

import re

from hypothesis import given

from plgd.text.unified import unified_diff
from plgd_cli.diff_view import render
from strategies import texts

ESCAPE = re.compile(r"\x1b\[[0-9]*m")


@given(texts(), texts())
def test_colours_change_no_line(old: str, new: str) -> None:
    """Without its colours, what a terminal shows of a diff has the diff's lines, controls excepted."""
    diff = unified_diff(old, new, "a.py")
    shown = ESCAPE.sub("", render(diff))
    bare = re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", diff)
    assert bare.split("\n") == re.sub("[␀-␡]|<[0-9A-F]{2}>", "", shown).split("\n")


@given(texts(), texts())
def test_text_cannot_steer_the_terminal(old: str, new: str) -> None:
    """No control character of a text reaches the terminal, tabs and line feeds excepted."""
    shown = ESCAPE.sub("", render(unified_diff(old, new, "a.py")))
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown) == []


def test_controls_become_pictures() -> None:
    """Control characters are shown as pictures, C1 controls by number, and an unchanged CR not at all."""
    diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\r\n-\x1b[2J\r\n+\x7f\x85\ttab\n"
    assert (
        "\x1b[1m--- a/x\x1b[0m\n\x1b[1m+++ b/x\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n"
        " same\n\x1b[31m-␛[2J␍\x1b[0m\n\x1b[32m+␡<85>\ttab\x1b[0m\n"
    ) == render(diff)


def test_turned_writing_is_shown() -> None:
    """Marks that turn the direction of writing are shown by number: a line reads as the bytes stand."""
    assert "+if ok: <202E># <2066>" in ESCAPE.sub(
        "", render("--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+if ok: \u202e# \u2066\n")
    )


def test_removed_dashes_are_no_header() -> None:
    """A removed line that begins with dashes is shown as removed."""
    shown = render("--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a comment\n+++ b\n")
    assert "\x1b[31m--- a comment\x1b[0m\n\x1b[32m+++ b\x1b[0m\n" in shown
