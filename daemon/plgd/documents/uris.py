"""The files that editors' names for their texts belong to."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from plgd.errors import InvalidParams

__all__ = ("path_of", "real_path")


def path_of(uri: str) -> Path | None:
    """Return the real path that a `file:` URI or an absolute path names; None for any other name.

    Raises:
        InvalidParams: a file on another machine, or a path with a NUL.
    """
    if uri.startswith("/"):
        path = uri
    else:
        try:
            parts = urlsplit(uri) if uri[:5].lower() == "file:" else None
        except ValueError as error:
            raise InvalidParams(f"{uri!r} is no file's URI ({error}).") from error
        if parts is None:
            return None
        if parts.netloc not in {"", "localhost"}:
            raise InvalidParams(f"{uri} is on another machine ({parts.netloc}).")
        path = unquote(parts.path)
    if "\0" in path or not path.startswith("/"):
        raise InvalidParams(f"{uri!r} names no file: it takes an absolute path.")
    return real_path(Path(path))


def real_path(path: Path) -> Path:
    """Follow the symbolic links of a path; one that leads nowhere is returned as it is."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path  # links in a circle, a NUL, half a character: whoever reads it is told
