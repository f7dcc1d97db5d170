"""What tests on an event loop do to files: small, local and at once."""

from __future__ import annotations

from pathlib import Path

__all__ = ("move", "names_in", "protect", "put", "remove", "text_of")


def text_of(path: Path) -> str:
    """Read a file, line endings as they are."""
    return path.read_bytes().decode()


def put(path: Path, text: str) -> None:
    """Write a file."""
    path.write_bytes(text.encode())


def move(path: Path, to: Path) -> None:
    """Give a file another name."""
    path.rename(to)


def protect(path: Path) -> None:
    """Make a file read-only."""
    path.chmod(0o444)


def remove(path: Path) -> None:
    """Remove a file."""
    path.unlink()


def names_in(folder: Path) -> list[str]:
    """List a folder."""
    return sorted(each.name for each in folder.iterdir())
