"""Files and folders that the user names, as the daemon must hear of them.

The daemon runs in another folder, has other files open, and may have been started from another locale: it gets the
absolute path, as the text that its bytes are in UTF-8.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from plgd.errors import FileMissing, FileUnreadable, UnknownModel
from plgd_cli.output import printable

__all__ = ("absolute_file", "absolute_model")

# Places whose content depends on who looks. `/dev/stdin` and its like lead there.
EACH_PROCESS_ITS_OWN: Final = frozenset(map(Path, ("/dev/fd", "/proc/self", "/proc/thread-self")))
# As many as Linux follows.
MAX_LINKS: Final = 40


def absolute_file(path: str) -> str:
    """Make the path of a file to edit absolute. `..` is left in it: only the file system knows what is above a link.

    Raises:
        FileMissing: there is nothing, or a symbolic link to nothing.
        FileUnreadable: its name is not UTF-8, links go round in a circle, or it means another file to the daemon.
    """
    if not _is_utf8(path):
        raise FileUnreadable.at(printable(path), "its name is not UTF-8")
    try:
        here = Path(path).absolute()
    except OSError as error:
        raise FileUnreadable.at(path, str(error.strerror)) from error
    try:
        here.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileMissing.at(path, str(here.readlink()) if here.is_symlink() else "") from error
    except OSError as error:
        reason = "its symbolic links go round in a circle" if error.errno == errno.ELOOP else str(error.strerror)
        raise FileUnreadable.at(path, reason) from error
    if _is_own(here):
        raise FileUnreadable.at(path, "it is what this command has open, not the daemon. Give - for standard input")
    return _on_the_wire(here)


def absolute_model(name: str) -> str:
    """Make the name of a model absolute where it is the path of a folder or of a wheel; other names are kept.

    Raises:
        UnknownModel: `~` of a user that there is none of.
        FileUnreadable: the path is not UTF-8.
    """
    if not (name.startswith(("/", "./", "../", "~")) or name in {".", ".."} or name.endswith(".whl")):
        return name
    try:
        return _on_the_wire(Path(name).expanduser().absolute())
    except RuntimeError as error:
        raise UnknownModel.no_folder(name) from error
    except OSError as error:
        raise FileUnreadable.at(name, str(error.strerror)) from error


def _on_the_wire(path: Path) -> str:
    if not _is_utf8(str(path)):
        raise FileUnreadable.at(printable(str(path)), "a folder in its path has a name that is not UTF-8")
    return os.fsencode(path).decode()


def _is_utf8(path: str) -> bool:
    try:
        os.fsencode(path).decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_own(path: Path) -> bool:
    """Whether a path leads through a place that each process has for itself; every link on the way is looked at."""
    here, pending, n_links = Path("/"), list(reversed(path.parts[1:])), 0
    while pending and n_links <= MAX_LINKS:
        part = pending.pop()
        here = here.parent if part == ".." else here / part
        if here in EACH_PROCESS_ITS_OWN:
            return True
        if here.is_symlink():
            n_links += 1
            target = here.readlink()
            here = Path("/") if target.is_absolute() else here.parent
            pending += reversed(target.parts[1:] if target.is_absolute() else target.parts)
    return False
