"""A conflict is shown so that a person can decide."""

from __future__ import annotations

from pathlib import Path

from cli.command import on_terminal, plgd
from cli.fake_daemon import FakeDaemon
from cli.results import edit_result
from plgd.protocol.conflicts import ConflictLines
from plgd.protocol.edits import EditStatus
from plgd.protocol.methods import EDIT
from plgd_cli.conflict_view import conflict_lines

CONFLICT = ConflictLines(first=5, last=5, file_first=4, base="five\r\n", file="", edit="FIVE\r\nsix")


def test_each_side_has_its_lines() -> None:
    """What was edited, what the file has now and what the edit wanted stand one above the other."""
    expected = ["  was  | five", "  file | (no lines)", "  edit | FIVE", "  edit | six"]
    assert expected == list(conflict_lines(CONFLICT))


def test_long_sides_are_cut() -> None:
    """Of many lines the first are shown, and how many are left out."""
    many = ConflictLines(first=1, last=12, file_first=1, base="x\n" * 12, file="y\n", edit="z\n")
    shown = list(conflict_lines(many))
    assert (13, "  was  | ... 2 more lines; --json shows all of them") == (len(shown), shown[10])


def test_a_person_sees_the_lines_and_a_pipe_the_sentence(daemon: FakeDaemon, sum_py: Path) -> None:
    """On a terminal the lines follow the sentence; elsewhere `--json` has them. The raw reply is not shown as well."""
    warning = "sum.py changed while the model worked (also in line 5)"
    daemon.answers(EDIT, edit_result(EditStatus.CONFLICT, warnings=(warning,), conflict=CONFLICT, raw_reply="reply"))
    shown = on_terminal("edit", str(sum_py), "-i", "x")
    assert (3, True) == (shown.exit_code, f"plgd: {warning}\r\n  was  | five\r\n" in shown.shown)
    assert "  | reply" not in shown.shown
    done = plgd("edit", str(sum_py), "-i", "x")
    assert (3, b"was " in done.stderr) == (done.returncode, False)
