"""Several files get their new texts all together or not at all, wherever the process dies and whatever fails."""

from __future__ import annotations

import errno
import os
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from edits.crashes import Crash, watched_disk
from plgd.edits.journal import Journal
from plgd.edits.settle import recover
from plgd.edits.transaction import Replacement, Stopped, replace_files
from plgd.edits.write import swap_in
from plgd.errors import WriteFailed

OLD = {"a.py": b"a = 1\r\n", "sub/b.py": b"b = 1\n", "sub/c.md": b"\xef\xbb\xbf# c\n"}
NEW = {"a.py": b"a = 2\r\n", "sub/b.py": b"b = 2\nb = 3\n", "sub/c.md": b""}
# More calls than any transaction of these files makes.
MANY = 200


class Desk:
    """Three files in two folders, and a journal."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.journal_folder = self.root / "state/journal"
        self.journal = Journal(self.journal_folder)
        (self.root / "sub").mkdir()
        (self.root / "state").mkdir()
        for name, data in OLD.items():
            (self.root / name).write_bytes(data)
        (self.root / "sub/b.py").chmod(0o750)

    def replace(self) -> None:
        """Replace all three."""
        replace_files([Replacement(self.root / name, OLD[name], NEW[name]) for name in OLD], self.journal)

    @property
    def texts(self) -> dict[str, bytes]:
        """The files' contents."""
        return {name: (self.root / name).read_bytes() for name in OLD}

    @property
    def beside(self) -> set[str]:
        """What is in the folders besides the files, and in the journal."""
        found = {str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file()}
        return found - OLD.keys()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Three files in two folders, and a journal."""
    return Desk(tmp_path)


def test_all_files_are_replaced(desk: Desk) -> None:
    """Every file has its new content and its own mode, and nothing is left over."""
    desk.replace()
    assert desk.texts == NEW
    assert desk.beside == set()
    assert (desk.root / "sub/b.py").stat().st_mode & 0o7777 == 0o750
    assert desk.journal_folder.stat().st_mode & 0o7777 == 0o700


def test_a_crash_at_any_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the process dies, the next start leaves all files old or all new, and nothing beside them."""
    outcomes: list[bool] = []
    for dies_at in count():
        desk = Desk(_folder(tmp_path, dies_at))
        with watched_disk(monkeypatch, dies_at=dies_at) as disk:
            try:
                desk.replace()
            except Crash:
                pass
            else:
                break
        assert len(disk.calls) == dies_at < MANY
        assert all(desk.texts[name] in {OLD[name], NEW[name]} for name in OLD)
        recover(Journal(desk.journal_folder))
        assert desk.texts in (OLD, NEW)
        assert desk.beside == set()
        outcomes.append(desk.texts == NEW)
    # Old up to a certain call, new from there on.
    assert outcomes == sorted(outcomes)
    assert {False, True} == set(outcomes)


def test_a_crash_at_any_call_of_the_recovery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever the recovery dies as well, the one after it ends the work, the same way."""
    numbers = count()
    for dies_at in _few_calls(tmp_path / "first", monkeypatch):
        for dies_again_at in count():
            desk = Desk(_folder(tmp_path, next(numbers)))
            with watched_disk(monkeypatch, dies_at=dies_at), pytest.raises(Crash):
                desk.replace()
            started = desk.texts
            with watched_disk(monkeypatch, dies_at=dies_again_at):
                try:
                    recover(Journal(desk.journal_folder))
                except Crash:
                    pass
                else:
                    break
            recover(Journal(desk.journal_folder))
            assert desk.texts in (OLD, NEW)
            assert desk.beside == set()
            assert started != NEW or desk.texts == NEW


def _few_calls(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the calls behind which the recovery has most to do: the renames and those next to them."""
    root.mkdir()
    desk = Desk(root)
    with watched_disk(monkeypatch) as disk:
        desk.replace()
    renames = [number for number, (name, _) in enumerate(disk.calls) if name == "replace"]
    return [renames[0] - 2, *renames, renames[-1] + 1]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_a_failure_at_any_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    """When one call fails, all files are old and it is said which could not be written, or all are new."""
    for fails_at in count():
        desk = Desk(_folder(tmp_path, fails_at))
        stopped: Stopped | None = None
        with watched_disk(monkeypatch, fails_at=fails_at, error=error) as disk:
            try:
                desk.replace()
            except Stopped as reason:
                stopped = reason
        assert desk.texts == (NEW if stopped is None else OLD)
        if stopped is not None:
            assert isinstance(stopped.error, WriteFailed)
            assert os.strerror(error).lower() in stopped.error.message.lower()
        if len(disk.calls) <= fails_at:
            break
        recover(Journal(desk.journal_folder))
        assert desk.texts == (NEW if stopped is None else OLD)
        assert desk.beside == set()
    assert fails_at < MANY


def _folder(root: Path, number: int) -> Path:
    folder = root / str(number)
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", OLD)
@pytest.mark.parametrize("theirs", [b"mine\n", None])
def test_a_file_that_is_another_by_now(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str, theirs: bytes | None
) -> None:
    """When one file has a third content or is gone, none is replaced for a moment even, and that one is named."""
    path = desk.root / name
    path.unlink() if theirs is None else path.write_bytes(theirs)
    with watched_disk(monkeypatch) as disk, pytest.raises(Stopped) as stopped:
        desk.replace()
    assert "replace" not in {call for call, _ in disk.calls}
    assert (list(OLD).index(name), None) == (stopped.value.index, stopped.value.error)
    assert {other: data for other, data in OLD.items() if other != name} == {
        other: (desk.root / other).read_bytes() for other in OLD if other != name
    }
    assert path.exists() == (theirs is not None)
    assert desk.beside == set()


@pytest.mark.parametrize("index", range(3))
def test_a_file_that_changes_between_the_renames(desk: Desk, monkeypatch: pytest.MonkeyPatch, index: int) -> None:
    """A file that somebody saves among the renames keeps that; those before it get their old content back."""
    path = desk.root / list(OLD)[index]

    def save_and_swap(new: Path, file: Path, expected: str) -> bool:
        if file == path:
            path.write_bytes(b"saved\n")
        return swap_in(new, file, expected)

    monkeypatch.setattr("plgd.edits.transaction.swap_in", save_and_swap)
    with pytest.raises(Stopped):
        desk.replace()
    assert desk.texts == {**OLD, list(OLD)[index]: b"saved\n"}
    assert desk.beside == set()


def test_without_hard_links(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system without hard links the old content is copied, and comes back with its mode."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    (desk.root / "sub/c.md").write_bytes(b"saved\n")
    with pytest.raises(Stopped):
        desk.replace()
    assert desk.texts == {**OLD, "sub/c.md": b"saved\n"}
    (desk.root / "sub/c.md").write_bytes(OLD["sub/c.md"])
    desk.replace()
    assert desk.texts == NEW
    assert desk.beside == set()


def test_everything_is_on_disk_before_the_renames(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contents and names of all new files are flushed before the journal says so, and that before the first rename."""
    opened: dict[int, str] = {}
    events: list[tuple[str, str]] = []
    real = {name: getattr(os, name) for name in ("open", "fsync", "write", "replace")}

    def note(name: str, *arguments: Any) -> Any:  # noqa: ANN401  # whatever the system's call takes
        events.append((name, str(opened.get(arguments[0], arguments[-1]))))
        return real[name](*arguments)

    def open_and_note(path: object, *arguments: Any, **options: Any) -> int:  # noqa: ANN401  # the same
        handle: int = real["open"](path, *arguments, **options)
        opened[handle] = str(path)
        return handle

    monkeypatch.setattr(os, "open", open_and_note)
    for name in ("fsync", "write", "replace"):
        monkeypatch.setattr(os, name, partial(note, name))
    desk.replace()
    begun, committed = (number for number, event in enumerate(events) if event[0] == "write" and "journal" in event[1])
    flushed = [place for what, place in events[begun:committed] if what == "fsync"]
    assert sum(place.endswith(".plgd-new") for place in flushed) == len(OLD)
    folders = {str(desk.root), str(desk.root / "sub")}
    assert folders <= set(flushed[-len(OLD) :])
    assert ("fsync", events[committed][1]) == events[committed + 1]
    assert [event[0] for event in events[committed + 2 : committed + 5]] == ["replace"] * 3
    assert folders <= {place for what, place in events[committed + 5 :] if what == "fsync"}
