"""Puts a new text on disk: all of it or nothing, and only over the text that it was made for."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
from pathlib import Path
from typing import Final

from plgd.documents.document import read_bytes
from plgd.edits.temporary import temporary_beside
from plgd.errors import InputError, ReadOnlyTarget, WriteFailed
from plgd.text.fingerprint import fingerprint

__all__ = ("check_writable", "copy_attributes", "is_still", "os_reason", "replace_file", "swap_in")

# Attributes that a file system does not have, or that only the system may set, stay behind.
_SKIPPED_ATTRIBUTE_ERRORS: Final = frozenset((errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENODATA))

# Between the last look at the old text and the rename, no other thread of this process may rename.
_SWAPPING: Final = threading.Lock()


def check_writable(path: Path) -> None:
    """Refuse a file that is not meant to be written, before any work is put into an edit.

    The administrator may write everything; a file or folder that nobody else may write is read-only all the same.

    Args:
        path: the real file.

    Raises:
        ReadOnlyTarget: the file or its folder.
    """
    effective_ids = os.access in os.supports_effective_ids
    for place, access in ((path, os.W_OK), (path.parent, os.W_OK | os.X_OK)):
        if not os.access(place, access, effective_ids=effective_ids) or not place.stat().st_mode & 0o222:
            raise ReadOnlyTarget.at(str(path))


def replace_file(path: Path, data: bytes, expected: str) -> bool:
    """Replace a file's content in one step, keeping its mode, owner and extended attributes.

    The content goes to a new file in the same folder, onto the disk, and takes the old one's name. Whoever opens the
    path sees the old or the new text, also after a power cut.

    Args:
        path: the real file; never a symbolic link, which would be replaced itself.
        data: the new content.
        expected: the fingerprint that the file must have right before it is replaced.

    Returns:
        False when the file has another content or is gone; then nothing was done.

    Raises:
        WriteFailed: no space, no permission and so on; the old file is whole and nothing is left beside it.
    """
    try:
        with temporary_beside(path) as temporary:
            temporary.file.write(data)
            temporary.file.flush()
            os.fsync(temporary.file.fileno())
            copy_attributes(path, temporary.file.fileno())
            if not swap_in(temporary.path, path, expected):
                return False
    except FileNotFoundError as error:
        if not path.parent.exists():
            raise WriteFailed.at(str(path), os_reason(error)) from error
        return False
    except OSError as error:
        raise WriteFailed.at(str(path), os_reason(error)) from error
    _sync_folder(path.parent)
    return True


def swap_in(new: Path, path: Path, expected: str) -> bool:
    """Give a new file the name of an old one, if that has the expected content in this moment.

    Args:
        new: the new file, in the same folder.
        path: the real file.
        expected: fingerprint.

    Returns:
        False when the file has another content or is gone; then nothing was done.

    Raises:
        OSError: the disk said no.
    """
    with _SWAPPING:
        if not is_still(path, expected):
            return False
        new.replace(path)
    return True


def copy_attributes(source: Path, handle: int) -> None:
    """Give an open file the owner, group, mode and extended attributes of another.

    Raises:
        WriteFailed: this user may not.
        OSError: the disk said no.
    """
    try:
        _copy_status(source, handle)
    except PermissionError as error:
        raise WriteFailed.at(str(source), "the new file could not be given its owner, group and mode") from error


def _copy_status(source: Path, handle: int) -> None:
    status = source.stat()
    made = os.fstat(handle)
    if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
        os.fchown(handle, status.st_uid, status.st_gid)  # before chmod: it clears the set-user-id bit
    if sys.platform == "linux":
        _copy_extended_attributes(source, handle)
    os.fchmod(handle, status.st_mode & 0o7777)


def _copy_extended_attributes(source: Path, handle: int) -> None:
    try:
        names = os.listxattr(source)
    except OSError as error:
        if error.errno not in _SKIPPED_ATTRIBUTE_ERRORS:
            raise
        return
    for name in names:
        try:
            os.setxattr(handle, name, os.getxattr(source, name))
        except OSError as error:
            if error.errno not in _SKIPPED_ATTRIBUTE_ERRORS:
                raise


def is_still(path: Path, expected: str) -> bool:
    """Tell whether a real file has the content with a fingerprint."""
    try:
        found = read_bytes(path)
    except InputError:
        return False
    return found.path == path and fingerprint(found.data) == expected


def _sync_folder(folder: Path) -> None:
    # The new text is in its place. Where a folder cannot be opened or flushed, the system does that in its own time.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def os_reason(error: OSError) -> str:
    """Say what the system said, as the end of a sentence."""
    text = os.strerror(error.errno) if error.errno else str(error)
    return text[:1].lower() + text[1:]
