"""What a daemon that died has left is finished or undone at the next start, and nothing of anybody else is touched."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

import msgspec
import pytest

from edits.crashes import Crash, watched_disk
from edits.test_transaction import NEW, OLD, Desk
from plgd.edits.journal import Journal, Move
from plgd.edits.settle import recover
from plgd.text.fingerprint import fingerprint

NAMES = list(OLD)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Three files in two folders, and a journal."""
    return Desk(tmp_path)


def die_after(desk: Desk, monkeypatch: pytest.MonkeyPatch, n_renames: int) -> None:
    """Let the process die when so many files have been renamed."""
    with watched_disk(monkeypatch) as disk:
        desk.replace()
    at = [number for number, (name, _) in enumerate(disk.calls) if name == "replace"]
    for name, data in OLD.items():
        (desk.root / name).write_bytes(data)
    with watched_disk(monkeypatch, dies_at=[*at, at[-1] + 1][n_renames]), pytest.raises(Crash):
        desk.replace()
    assert desk.texts == {**OLD, **{name: NEW[name] for name in NAMES[:n_renames]}}


def test_a_file_that_was_changed_after_the_crash(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A file that waited for its rename and has a third text keeps it; the others go back, and the log says so."""
    die_after(desk, monkeypatch, 1)
    (desk.root / NAMES[2]).write_bytes(b"mine\n")
    with caplog.at_level(logging.WARNING):
        recover(Journal(desk.journal_folder))
    assert desk.texts == {**OLD, NAMES[2]: b"mine\n"}
    assert desk.beside == set()
    assert "an edit of 3 files that was interrupted has been undone" in caplog.text
    assert f"'{desk.root / NAMES[2]}' has another text by now; it was left as it is" in caplog.text


def test_a_file_that_was_changed_after_its_rename(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that had its new text and was changed since keeps that; the others are finished."""
    die_after(desk, monkeypatch, 2)
    (desk.root / NAMES[0]).write_bytes(b"more\n")
    recover(Journal(desk.journal_folder))
    assert desk.texts == {**NEW, NAMES[0]: b"more\n"}
    assert desk.beside == set()


def test_a_file_that_was_deleted_after_the_crash(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is gone does not come back, neither old nor new."""
    die_after(desk, monkeypatch, 3)
    (desk.root / NAMES[1]).unlink()
    recover(Journal(desk.journal_folder))
    assert not (desk.root / NAMES[1]).exists()
    assert (desk.root / NAMES[0]).read_bytes() == NEW[NAMES[0]]
    assert desk.beside == set()


def test_a_new_text_that_is_lost(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a text that waited is gone or damaged, the files that were renamed get their old text back."""
    die_after(desk, monkeypatch, 1)
    next((desk.root / "sub").glob(".b.py.*.plgd-new")).write_bytes(b"half")
    recover(Journal(desk.journal_folder))
    assert desk.texts == OLD
    assert desk.beside == set()


def test_a_folder_that_is_not_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Files on a disk that is not there now wait for a later start."""
    die_after(desk, monkeypatch, 1)
    (desk.root / "sub").rename(desk.root / "away")
    recover(Journal(desk.journal_folder))
    assert "waits for the next start" in caplog.text
    (desk.root / "away").rename(desk.root / "sub")
    recover(Journal(desk.journal_folder))
    assert desk.texts == NEW
    assert desk.beside == set()


def test_a_journal_that_was_cut_off_anywhere(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A line of the journal that did not reach the disk whole counts as not written."""
    die_after(desk, monkeypatch, 0)
    (file,) = desk.journal_folder.iterdir()
    whole = file.read_bytes()
    before = tmp_path / "before"
    shutil.copytree(desk.root, before, ignore=lambda folder, _: {"before"} if folder == str(tmp_path) else set())
    first = whole.index(b"\n") + 1
    for length in {0, 1, first // 2, first - 1, first, first + 1, len(whole) - 1, len(whole)}:
        for name in OLD:
            (desk.root / name).write_bytes(OLD[name])
        for beside in before.glob("**/.*.plgd-*"):
            shutil.copy(beside, desk.root / beside.relative_to(before))
        desk.journal_folder.mkdir(exist_ok=True)
        file.write_bytes(whole[:length])
        recover(Journal(desk.journal_folder))
        assert desk.texts == (NEW if length == len(whole) else OLD)
        assert list(desk.journal_folder.iterdir()) == []


def test_a_line_of_the_journal_that_was_damaged(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that reached the disk in part counts as not written, also if its end is there."""
    die_after(desk, monkeypatch, 0)
    (file,) = desk.journal_folder.iterdir()
    first, second, _ = file.read_bytes().split(b"\n")
    file.write_bytes(first + b"\n" + bytes(len(second) - 12) + second[-12:] + b"\n")
    recover(Journal(desk.journal_folder))
    assert desk.texts == OLD
    assert desk.beside == set()


def test_a_damaged_entry_of_a_transaction_that_had_begun(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """When nobody can say any more which files were meant, the entry stays for a person to see, and so do the texts."""
    die_after(desk, monkeypatch, 1)
    (file,) = desk.journal_folder.iterdir()
    texts, beside = desk.texts, desk.beside
    file.write_bytes(b"?" + file.read_bytes()[1:])
    recover(Journal(desk.journal_folder))
    assert f"the journal's {file.name} is damaged" in caplog.text
    assert (texts, beside) == (desk.texts, desk.beside)


def test_a_journal_of_another_version(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    """An entry that is not understood is logged and left alone, and so are files beside it."""
    desk.journal_folder.mkdir()
    content = b'{"from":"the future"}'
    entry = desk.journal_folder / "1.journal"
    entry.write_bytes(fingerprint(content)[:16].encode() + b" " + content + b"\n")
    (desk.journal_folder / "README").write_text("mine")
    recover(Journal(desk.journal_folder))
    assert "the journal's 1.journal cannot be read" in caplog.text
    assert {"1.journal", "README"} == {path.name for path in desk.journal_folder.iterdir()}


def test_without_a_journal(tmp_path: Path) -> None:
    """A first start has nothing to recover, and makes no folder."""
    recover(Journal(tmp_path / "journal"))
    assert not (tmp_path / "journal").exists()


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    """Names go through the journal as the system's bytes."""
    name = os.fsdecode(b"caf\xe9.py")
    move = Move(path=os.fsencode(tmp_path / name), staged=b"/s", kept=b"/k", old="o", new="n")
    assert msgspec.json.decode(msgspec.json.encode(move), type=Move).file == tmp_path / name
