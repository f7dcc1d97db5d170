"""A document: the text of one file or buffer, bytes first."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from plgd.errors import FileMissing, FileUnreadable, NotAFile, NotText
from plgd.text.fingerprint import fingerprint
from plgd.text.lines import split_lines

__all__ = ("MAX_BYTES", "Document", "FileContent", "read_bytes")

# No model's context holds so much text; reading a disk image to find that out would stop the machine.
MAX_BYTES: Final = 64 * 1024 * 1024

_BOM: Final = "\ufeff"
_UTF16_BOMS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CIRCLE: Final = "its symbolic links go round in a circle"
_KINDS: Final = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


@dataclass(frozen=True, slots=True)
class Document:
    """A text as it was read. Never changes; a changed text is another document.

    Attributes:
        name: what messages and the model call it: the path's last part, or the buffer's name.
        asked: the path that was asked for, `None` for a text from a buffer.
        path: the real file behind it, symbolic links followed.
        data: the bytes, exactly.
        bom: the byte order mark that the text begins with, or nothing.
        lines: the text after the byte order mark, each line with its ending; none in an empty text.
        fingerprint: of `data`.
        version: counts the texts seen under this path or name, from 1.
        n_links: names that the file has on disk; more than one with hard links.
    """

    name: str
    asked: Path | None
    path: Path | None
    data: bytes
    bom: str
    lines: tuple[str, ...]
    fingerprint: str
    version: int = 1
    n_links: int = 1

    @classmethod
    def read(cls, path: Path, name: str = "") -> Document:
        """Read a file.

        Args:
            path: absolute; symbolic links are followed.
            name: what to call it; by default the last part of `path`.

        Raises:
            FileMissing, NotAFile, FileUnreadable, NotText: as their names say.
        """
        found = read_bytes(path)
        document = cls._of(found.data, name or path.name, path)
        return replace(document, path=found.path, n_links=found.n_links)

    @classmethod
    def of_text(cls, text: str, name: str, path: Path | None = None) -> Document:
        """Take the text of a buffer.

        Args:
            text: all of it.
            name: what to call it.
            path: the file that the buffer belongs to, symbolic links followed; what is on disk does not count.

        Raises:
            NotText: NUL characters, or half a surrogate pair, which UTF-8 cannot hold.
        """
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise NotText.not_utf8(name, len(text[: error.start].encode())) from error
        return replace(cls._of(data, name, path), path=path)

    @classmethod
    def _of(cls, data: bytes, name: str, asked: Path | None) -> Document:
        shown = str(asked or name)
        if data.startswith(_UTF16_BOMS):
            raise NotText.not_utf8(shown, 0)
        if (nul := data.find(b"\0")) >= 0:
            raise NotText.binary(shown, nul)
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise NotText.not_utf8(shown, error.start) from error
        bom = _BOM if text.startswith(_BOM) else ""
        return cls(name, asked, None, data, bom, split_lines(text.removeprefix(bom)), fingerprint(data))

    @property
    def text(self) -> str:
        """The whole text, byte order mark included: what `data` says in UTF-8."""
        return self.data.decode()

    def shown(self) -> str:
        """Return what error messages call it: the path as it was asked for, else the name."""
        return str(self.asked or self.name)


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file holds.

    Attributes:
        path: the real one, symbolic links followed.
        data: the bytes.
        n_links: names that the file has on disk.
    """

    path: Path
    data: bytes
    n_links: int


def read_bytes(path: Path) -> FileContent:
    """Read a regular file, never waiting for a pipe or a device.

    Raises:
        FileMissing, NotAFile, FileUnreadable: as their names say.
    """
    try:
        real = path.resolve(strict=True)
        _check_kind(path, real.stat().st_mode)
        # Not blocking: between stat and open, the file may have become a pipe.
        with os.fdopen(os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            _check_kind(path, status.st_mode)
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileMissing.at(str(path)) from error
    except OSError as error:
        raise FileUnreadable.at(str(path), _reason(error)) from error
    except RuntimeError as error:
        # So says `resolve` until Python 3.12; later versions give ELOOP.
        raise FileUnreadable.at(str(path), _CIRCLE) from error
    except ValueError as error:
        raise FileUnreadable.at(str(path), "its name holds a NUL") from error
    if len(data) > MAX_BYTES:
        raise FileUnreadable.at(str(path), f"it is larger than {MAX_BYTES // 2**20} MB")
    return FileContent(real, data, status.st_nlink)


def _check_kind(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise NotAFile.at(str(path), next((kind for test, kind in _KINDS if test(mode)), "special file"))


def _reason(error: OSError) -> str:
    text = os.strerror(error.errno) if error.errno else str(error)
    if error.errno == errno.ELOOP:
        return _CIRCLE
    return text[:1].lower() + text[1:]
