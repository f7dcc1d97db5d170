"""A file is replaced as a whole or not at all, and stays what it was in everything but its text."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plgd.edits.temporary import temporary_beside
from plgd.edits.write import check_writable, replace_file
from plgd.errors import ReadOnlyTarget, WriteFailed
from plgd.text.fingerprint import fingerprint

OLD, NEW = b"old\r\n", b"new\r\nand more\r\n"
NOBODY = 65534


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A file with the old content."""
    path = tmp_path.resolve() / "file.py"
    path.write_bytes(OLD)
    return path


def _entries(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir())


@contextmanager
def _disk_full_after(n_bytes: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size: writing fails as on a full disk, in the same places."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_the_new_content_is_exact(target: Path) -> None:
    """The bytes on disk are the bytes that were given, and no other file is left."""
    assert replace_file(target, NEW, fingerprint(OLD))
    assert target.read_bytes() == NEW
    assert _entries(target) == ["file.py"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664, 0o4755])
def test_mode_is_kept(target: Path, mode: int) -> None:
    """A script stays executable, a private file private."""
    target.chmod(mode)
    assert replace_file(target, NEW, fingerprint(OLD))
    assert stat.S_IMODE(target.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only the administrator can give a file away")
def test_owner_is_kept(target: Path) -> None:
    """A file of another user stays theirs."""
    os.chown(target, NOBODY, NOBODY)
    assert replace_file(target, NEW, fingerprint(OLD))
    assert (target.stat().st_uid, target.stat().st_gid) == (NOBODY, NOBODY)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a file of another user")
def test_a_file_whose_owner_cannot_be_kept() -> None:
    """A file that would change hands is not written: the old one stays, and the reason is told."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "file.py"
        path.parent.chmod(0o777)
        path.write_bytes(OLD)
        path.chmod(0o666)
        os.seteuid(NOBODY)
        try:
            with pytest.raises(WriteFailed, match="could not be given its owner"):
                replace_file(path, NEW, fingerprint(OLD))
        finally:
            os.seteuid(0)
        assert path.read_bytes() == OLD
        assert _entries(path) == ["file.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="Python reads extended attributes on Linux only")
def test_extended_attributes_are_kept(target: Path) -> None:
    """What a desktop or a backup has attached to a file stays attached, where the file system can."""
    try:
        os.setxattr(target, "user.plgd", b"kept")
    except OSError:
        pytest.skip("this file system has no user attributes")
    assert replace_file(target, NEW, fingerprint(OLD))
    assert os.getxattr(target, "user.plgd") == b"kept"


@pytest.mark.skipif(sys.platform != "linux", reason="Python reads extended attributes on Linux only")
def test_a_file_system_without_extended_attributes(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file system knows no attributes, a file is written all the same."""

    def refuse(_path: Path) -> list[str]:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(os, "listxattr", refuse)
    assert replace_file(target, NEW, fingerprint(OLD))
    assert target.read_bytes() == NEW


KILLED_WHILE_WRITING = """
import os, pathlib, signal, sys
from plgd.edits.write import replace_file
from plgd.text.fingerprint import fingerprint
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
path = pathlib.Path(sys.argv[1])
replace_file(path, b"half", fingerprint(path.read_bytes()))
"""


def test_what_a_killed_writer_left_is_removed_by_the_next(target: Path) -> None:
    """A process killed while it writes leaves the old text whole, and what it left is gone with the next write."""
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(target)], check=False)
    assert -signal.SIGKILL == killed.returncode
    assert target.read_bytes() == OLD
    assert len(_entries(target)) == 2
    assert replace_file(target, NEW, fingerprint(OLD))
    assert _entries(target) == ["file.py"]


def test_what_a_living_writer_needs_stays(target: Path) -> None:
    """A file that another edit is being written to, and files that only look alike, are left alone."""
    alike = (target.with_name(".file.py.notes.plgd"), target.with_name("file.py.abcdefgh.plgd"))
    for path in alike:
        path.write_bytes(b"theirs")
    with temporary_beside(target) as temporary:
        assert replace_file(target, NEW, fingerprint(OLD))
        assert temporary.path.exists()
    assert sorted(["file.py", *(path.name for path in alike)]) == _entries(target)


def test_another_content_is_not_overwritten(target: Path) -> None:
    """A file that has another content than expected is left alone."""
    target.write_bytes(b"theirs")
    assert not replace_file(target, NEW, fingerprint(OLD))
    assert target.read_bytes() == b"theirs"
    assert _entries(target) == ["file.py"]


def test_a_deleted_file_is_not_made_again(target: Path) -> None:
    """A file that was deleted meanwhile stays deleted."""
    target.unlink()
    assert not replace_file(target, NEW, fingerprint(OLD))
    assert _entries(target) == []


def test_a_link_is_not_replaced(target: Path) -> None:
    """A symbolic link that took the file's place is left alone."""
    target.rename(target.with_name("moved.py"))
    target.symlink_to("moved.py")
    assert not replace_file(target, NEW, fingerprint(OLD))
    assert target.is_symlink()
    assert target.read_bytes() == OLD


@pytest.mark.parametrize("room", [0, 5])
def test_a_full_disk(target: Path, room: int) -> None:
    """When the disk is full, the old file is whole, nothing is left beside it, and the error says so."""
    with _disk_full_after(room), pytest.raises(WriteFailed, match="was not written and is unchanged: file too large"):
        replace_file(target, NEW, fingerprint(OLD))
    assert target.read_bytes() == OLD
    assert _entries(target) == ["file.py"]


def test_a_folder_that_is_gone(target: Path) -> None:
    """A folder that was deleted meanwhile is an error that names the file."""
    target.unlink()
    target.parent.rmdir()
    with pytest.raises(WriteFailed, match=r"file\.py was not written"):
        replace_file(target, NEW, fingerprint(OLD))


def test_a_long_name(tmp_path: Path) -> None:
    """A file whose name is as long as the system allows can be replaced."""
    path = tmp_path.resolve() / ("é" * 126 + ".py")
    path.write_bytes(OLD)
    assert replace_file(path, NEW, fingerprint(OLD))
    assert path.read_bytes() == NEW


def test_a_writable_file(target: Path) -> None:
    """An ordinary file may be written."""
    check_writable(target)


def test_a_read_only_file(target: Path) -> None:
    """A file without write permission is refused, for the administrator too."""
    target.chmod(0o444)
    with pytest.raises(ReadOnlyTarget, match=r"file\.py is read-only"):
        check_writable(target)


def test_a_read_only_folder(target: Path) -> None:
    """A file in a folder that cannot be written is refused: its new text could not take its place."""
    target.parent.chmod(0o555)
    try:
        with pytest.raises(ReadOnlyTarget, match=r"file\.py is read-only"):
            check_writable(target)
    finally:
        target.parent.chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a file of another user")
def test_a_file_of_another_user() -> None:
    """A file that only its owner may write is refused to everybody else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file.py")
        path.parent.chmod(0o777)
        path.write_bytes(OLD)
        os.seteuid(NOBODY)
        try:
            with pytest.raises(ReadOnlyTarget):
                check_writable(path)
        finally:
            os.seteuid(0)
