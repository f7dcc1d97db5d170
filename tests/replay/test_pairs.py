"""Pairs come from folders and archives; what nobody would edit is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from plgd.bench.pairs import FilePair, choose_pairs, pairs_from_archives, pairs_from_folders
from plgd.errors import BenchError
from releases import CHANGED, LONG, make_archives


def write_trees(root: Path, before: dict[str, bytes], after: dict[str, bytes]) -> Path:
    """Write before/ and after/."""
    for tree, files in (("before", before), ("after", after)):
        for name, content in files.items():
            path = root / tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return root


def test_folders_give_what_differs(tmp_path: Path) -> None:
    """Same names below before/ and after/ make a pair if both are text and differ."""
    folder = write_trees(
        tmp_path,
        {"a/x.py": b"1\r\n", "same.py": b"1\n", "gone.py": b"1\n", "binary": b"\xff\xfe\x00"},
        {"a/x.py": b"2\n", "same.py": b"1\n", "new.py": b"1\n", "binary": b"\xff\xfe\x01"},
    )
    assert [FilePair(tmp_path.name, "a/x.py", "1\n", "2\n")] == pairs_from_folders(folder)


def test_folders_that_are_missing_or_equal_are_refused(tmp_path: Path) -> None:
    """The message names the folder."""
    with pytest.raises(BenchError, match="before"):
        pairs_from_folders(tmp_path)
    with pytest.raises(BenchError, match="no text differs"):
        pairs_from_folders(write_trees(tmp_path, {"a": b"1"}, {"a": b"1"}))


def test_wheels_and_tar_files_give_the_same_pairs(tmp_path: Path) -> None:
    """Unchanged, tiny, minified, unknown and rewritten files are left out of releases."""
    files = {
        "m/good.py": (LONG, CHANGED),
        "m/same.py": (LONG, LONG),
        "m/tiny.py": ("a = 1\n", "a = 2\n"),
        "m/minified.js": (LONG + "x" * 600, CHANGED + "x" * 600),
        "m/picture.svg": (LONG, CHANGED),
        "m/rewritten.py": (LONG, LONG.replace("value", "other")),
    }
    for before, after in make_archives(tmp_path, files):
        assert [FilePair("p", "m/good.py", LONG, CHANGED)] == pairs_from_archives("p", before, after)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    """What is no archive is named."""
    path = tmp_path / "x.whl"
    path.write_bytes(b"no archive")
    with pytest.raises(BenchError, match=r"x\.whl"):
        pairs_from_archives("p", path, path)


@pytest.mark.parametrize(("n_each", "expected"), [(1, [0]), (2, [0, 3]), (9, [0, 1, 2, 3, 4])])
def test_choice_is_spread_over_the_names(n_each: int, expected: list[int]) -> None:
    """At most so many of a package and language are taken, from its whole length."""
    pairs = [FilePair("p", f"{n}.py", "a", "b") for n in range(5)]
    other = [FilePair("p", "x.md", "a", "b"), FilePair("q", "1.py", "a", "b")]
    assert [*(pairs[n] for n in expected), *other] == choose_pairs([*pairs, *other], n_each)
