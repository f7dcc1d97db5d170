"""Pairs come from folders and archives; what nobody would edit is left out."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from plgd.bench.material.pairs import FilePair, archive_texts, choose_pairs, pairs_from_archives, pairs_from_folders
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


def test_what_is_no_text_or_has_no_name_stops_nothing(tmp_path: Path) -> None:
    """A file with NUL characters is no pair, and a name that is not UTF-8 can be told."""
    before, after = {"nul": b"a\0b\n", "x.py": b"1\n"}, {"nul": b"a\0c\n", "x.py": b"2\n"}
    folder = write_trees(tmp_path, before, after)
    for tree in ("before", "after"):
        path = folder / tree / "x.py"
        path.rename(os.fsdecode(os.fsencode(path.parent) + b"/\xff.py"))
    assert [FilePair(tmp_path.name, "\ufffd.py", "1\n", "2\n")] == pairs_from_folders(folder)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's reason is told, too."""
    folder = write_trees(tmp_path, {"x.py": b"1\n"}, {"x.py": b"2\n"})

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(BenchError, match=r"x\.py cannot be used: Permission denied"):
        pairs_from_folders(folder)


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


def test_flipped_bytes_in_an_archive_are_told(tmp_path: Path) -> None:
    """Wherever a byte of an archive is wrong, it gives its texts or the error that names it."""
    for archive, _ in make_archives(tmp_path, {"m/good.py": (LONG, CHANGED)}):
        content = archive.read_bytes()
        n_told = 0
        for place, flips in itertools.product(range(len(content)), (0x01, 0xFF)):
            archive.write_bytes(content[:place] + bytes([content[place] ^ flips]) + content[place + 1 :])
            try:
                dict(archive_texts(archive))
            except BenchError as error:
                n_told += archive.name in error.message
        assert n_told > len(content) // 10


@pytest.mark.parametrize(("n_each", "expected"), [(1, [0]), (2, [0, 3]), (9, [0, 1, 2, 3, 4])])
def test_choice_is_spread_over_the_names(n_each: int, expected: list[int]) -> None:
    """At most so many of a package and language are taken, from its whole length."""
    pairs = [FilePair("p", f"{n}.py", "a", "b") for n in range(5)]
    other = [FilePair("p", "x.md", "a", "b"), FilePair("q", "1.py", "a", "b")]
    assert [*(pairs[n] for n in expected), *other] == choose_pairs([*pairs, *other], n_each)
