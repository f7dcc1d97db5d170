"""The token of the endpoint: made once, kept where only its owner can read it."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path
from typing import Final

from plgd.errors import ConfigError
from plgd.paths import private_folder

__all__ = ("keep_token",)

_TOKEN: Final = re.compile(r"[!-~]{16,4096}")


def keep_token(path: Path) -> str:
    """Return the token of a file, which is made when there is none.

    Raises:
        ConfigError: the file cannot be read or made, is not this user's alone, or holds something else.
    """
    try:
        return _make(path)
    except FileExistsError:
        pass
    except OSError as error:
        raise ConfigError.with_bad_token(str(path), str(error)) from error
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:  # noqa: PTH123  # what was checked is what is read
            found = os.fstat(descriptor)
            text = file.read(4097).decode("ascii", "replace").strip()
    except OSError as error:
        raise ConfigError.with_bad_token(str(path), str(error)) from error
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise ConfigError.with_bad_token(str(path), "others than you may read or write it")
    if _TOKEN.fullmatch(text) is None:
        raise ConfigError.with_bad_token(str(path), "it does not hold 16 visible ASCII characters or more")
    return text


def _make(path: Path) -> str:
    private_folder(path.parent)
    token = secrets.token_urlsafe(32)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "w", encoding="ascii") as file:  # noqa: PTH123  # the descriptor is there already
            file.write(token + "\n")
    except OSError:
        path.unlink(missing_ok=True)  # half a token would be refused at every start from now on
        raise
    return token
