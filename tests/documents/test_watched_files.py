"""Watched files: what was read may change, and is told apart by its revision."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from plgd.documents.watched import WatchedFiles

A, B, C = Path("/x/a.py"), Path("/x/b.py"), Path("/y/c.py")


def test_folders_are_watched() -> None:
    """Each folder of a file is watched, however many files of it were read."""
    files = WatchedFiles()
    for path in (A, B, C, A):
        files.add(path)
    assert {Path("/x"), Path("/y")} == files.folders()
    assert ({A, B}, (C,), ()) == (set(files.inside(A.parent)), files.inside(C.parent), files.inside(Path("/z")))


def test_only_files_that_were_read_count() -> None:
    """What happens to other files in the folder is of no interest."""
    files = WatchedFiles()
    files.add(A)
    assert (False, True) == (files.touch(B), files.touch(A))
    assert [A] == [file.path for file in files.changed()]


def test_changes_are_told_apart() -> None:
    """Each change has a greater revision and its own time; the latest comes first, and reading again forgets none."""
    seconds = count()
    files = WatchedFiles(clock=lambda: float(next(seconds)))
    for path in (A, B):
        files.add(path)
        files.touch(path)
    files.touch(A)
    files.add(A)
    first, second = files.changed()
    assert (A, 2.0, B, 1.0) == (first.path, first.changed_at, second.path, second.changed_at)
    assert first.revision > second.revision


def test_there_is_a_limit() -> None:
    """Of too many files those read longest ago are let go, and their folders with them."""
    files = WatchedFiles(limit=2)
    for path in (A, C, A, B):
        files.add(path)
    assert {Path("/x")} == files.folders()
    assert not files.touch(C)
