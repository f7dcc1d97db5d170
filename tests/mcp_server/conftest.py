"""Fixtures of the MCP server's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_server.talking import SOURCE

__all__ = ("anyio_backend", "root")


@pytest.fixture
def anyio_backend() -> str:
    """The daemon runs on asyncio."""
    return "asyncio"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file to edit, one outside of it, and links that lead out."""
    folder = tmp_path / "allowed"
    folder.mkdir()
    (folder / "list.txt").write_text(SOURCE)
    (tmp_path / "secret.txt").write_text(SOURCE)
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "up").symlink_to(tmp_path)
    (folder / "inner.txt").symlink_to(folder / "list.txt")
    return folder
