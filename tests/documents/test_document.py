"""A document is read exactly or refused with the reason."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given

from plgd.documents.document import MAX_BYTES, Document
from plgd.errors import FileMissing, FileUnreadable, InputError, NotAFile, NotText
from plgd.text.fingerprint import fingerprint
from strategies import texts

NOBODY = 65534


@given(texts())
def test_a_document_is_its_bytes(text: str) -> None:
    """Lines, endings, byte order mark and final newline of a text are kept, and its fingerprint is of its bytes."""
    for bom in ("", "\ufeff"):
        document = Document.of_text(bom + text, "buffer.py")
        assert (bom, text) == (document.bom, "".join(document.lines))
        assert (bom + text).encode() == document.data
        assert fingerprint((bom + text).encode()) == document.fingerprint


def test_a_file_is_read_through_its_links(tmp_path: Path) -> None:
    """A document that was asked for by a symbolic link knows the real file and keeps the link's name."""
    (tmp_path / "real.py").write_bytes(b"x = 1\r\n")
    (tmp_path / "link.py").symlink_to("real.py")
    document = Document.read(tmp_path / "link.py")
    assert (tmp_path / "real.py", "link.py", b"x = 1\r\n") == (document.path, document.name, document.data)


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def _nothing(_path: Path) -> None:
    pass


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _circle(path: Path) -> None:
    path.symlink_to(path.name)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (_nothing, FileMissing, "no such file"),
        (_dangling, FileMissing, "no such file"),
        (_folder, NotAFile, "is a folder, not a file"),
        (_pipe, NotAFile, "is a named pipe, not a file"),
        (_socket, NotAFile, "is a socket, not a file"),
        (_circle, FileUnreadable, "its symbolic links go round in a circle"),
        (_huge, FileUnreadable, "it is larger than 64 MB"),
    ],
)
def test_what_is_no_readable_file(make: object, error: type[InputError], words: str) -> None:
    """A missing file, a folder, a pipe, a circle of links or a disk image is refused by name, without waiting."""
    assert callable(make)
    with tempfile.TemporaryDirectory() as folder:  # short: a socket's path may not be long
        path = Path(folder, "file.py")
        make(path)
        with pytest.raises(error, match=words) as caught:
            Document.read(path)
        assert str(path) in caught.value.message


@pytest.mark.parametrize(
    ("path", "error"), [("/dev/null", NotAFile), ("/etc/passwd/x", FileMissing), ("/x\0y", FileUnreadable)]
)
def test_odd_paths(path: str, error: type[InputError]) -> None:
    """A device, a path through a file and a path with a NUL are refused."""
    with pytest.raises(error):
        Document.read(Path(path))


@contextmanager
def _without_rights() -> Iterator[None]:
    """Give up the administrator's rights for a while, if the tests have them."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def test_an_unreadable_file() -> None:
    """A file that the daemon may not read is refused with the system's reason."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder, "secret.py")
        path.write_text("x = 1\n")
        path.chmod(0)
        with _without_rights(), pytest.raises(FileUnreadable, match="permission denied"):
            Document.read(path)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"abc\0def", NotText, "NUL at byte 3"),
        (b"\x89PNG\r\n\x1a\n\0", NotText, "NUL at byte 8"),
        (b"caf\xe9\n", NotText, r"not UTF-8 \(byte 3\)"),
        (b"ok\n\xf0\x9f\x98", NotText, r"not UTF-8 \(byte 3\)"),
        (b"\xed\xa0\x80", NotText, r"not UTF-8 \(byte 0\)"),
        ("x = 1\n".encode("utf-16"), NotText, r"not UTF-8 \(byte 0\)"),
    ],
)
def test_what_is_no_text(tmp_path: Path, data: bytes, error: type[InputError], words: str) -> None:
    """An empty or binary file, and one of another encoding, is refused; the message names the byte."""
    path = tmp_path / "file.bin"
    path.write_bytes(data)
    with pytest.raises(error, match=words):
        Document.read(path)


def test_half_a_surrogate_pair_in_a_buffer() -> None:
    """Text from a client that UTF-8 cannot hold is refused; the message names the byte."""
    with pytest.raises(NotText, match=r"buffer.py is not UTF-8 \(byte 2\)"):
        Document.of_text("é\ud800", "buffer.py")


def test_a_nul_in_a_buffer() -> None:
    """A buffer with a NUL is binary as a file would be."""
    with pytest.raises(NotText, match="NUL at byte 1"):
        Document.of_text("a\0", "buffer.py")
